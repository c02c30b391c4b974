// cupola ptx and cupola fatbin on the build tree itself. Oracle of kernel results: written beside the command.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cupola/fatbin_scan.h"
#include "cupola/kernel_argument.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

using cupolac::run_shell;
using cupolac::ShellOutput;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kSquare = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry square(.param .u64 values, .param .u32 count)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [values];
  ld.param.u32 %r1, [count];
  mov.u32 %r2, %tid.x;
  setp.ge.u32 %p, %r2, %r1;
  @%p ret;
  mul.wide.u32 %rd2, %r2, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r3, [%rd3];
  mul.lo.u32 %r3, %r3, %r3;
  st.global.u32 [%rd3], %r3;
  ret;
}
)";

/// The tool in a folder with square.ptx.
class KernelCode : public testing::Test {
 protected:
  void SetUp() override { write("square.ptx", kSquare); }
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  ShellOutput shell(const std::string& command) const {
    return run_shell("cd " + scratch_.path() + " && PATH=" CUPOLA_BUILD_DIR "/bin:$PATH && LD_LIBRARY_PATH= && " +
                     command);
  }

 private:
  cupolac::Scratch scratch_ = cupolac::Scratch::temporary().value();
};

TEST_F(KernelCode, PrintsWhatItReads) {
  const ShellOutput once = shell("cupola ptx square.ptx > once.ptx && cupola ptx once.ptx > twice.ptx");
  EXPECT_EQ(once.status, 0) << once.text;
  EXPECT_THAT(read("once.ptx"), AllOf(HasSubstr(".entry square"), HasSubstr("mul.lo.u32")));
  EXPECT_EQ(read("once.ptx"), read("twice.ptx"));
}

TEST_F(KernelCode, RunsEveryForm) {
  for (const char* form : {"cat square.ptx", "cupola ptx square.ptx", "cupola ptx square.ptx --kir",
                           "cupola ptx square.ptx --ptx", "cupola ptx square.ptx --ptx --sm 90"}) {
    const ShellOutput output =
        shell(std::string(form) + " | cupola ptx - --run square --block 4 --args inout:u32:2,3,4,5 u32:3");
    EXPECT_EQ(output.status, 0) << form;
    EXPECT_EQ(output.text, "argument 0: 4 9 16 5\n") << form;
  }
}

TEST_F(KernelCode, SaysWhatIsWrongInOneLine) {
  const std::pair<const char*, const char*> cases[] = {
      {"cupola ptx missing.ptx", "cupola: 'missing.ptx' cannot be read: No such file or directory\n"},
      {"sed 's/mul.lo/mul.low/' square.ptx | cupola ptx -", "cupola: ptx: line 17"},
      {"head -c 300 square.ptx | cupola ptx -", "cupola: ptx: line "},
      {"sed 's/, %r1;/;/' square.ptx | cupola ptx -", "cupola: ptx: line "},
      {"cupola ptx square.ptx --ptx --sm 12", "cupola: ptx: 'sm_12' is no architecture"},
      {"echo nonsense | cupola ptx - --ptx", "cupola: kir: neither bitcode nor LLVM IR"},
      {"cupola ptx square.ptx --run square --args i33:1", "cupola: argument 'i33:1': its type is none of"},
      {"cupola ptx square.ptx --run square --args out:i32:1 u64:1",
       "cupola: argument 1 has 8 bytes; square takes 4 there\n"},
      {"cupola ptx square.ptx --run square --args out:i32:1", "cupola: --args has 1 arguments; square takes 2\n"},
      {"cupola frobnicate", "cupola: there is no command 'frobnicate'; cupola --help lists them\n"},
      {"cupola ptx square.ptx --run square --grid 1,x", "cupola: --grid is '1,x'"},
      {"cupola explain --block 32,x square.ptx", "cupola: --block is '32,x'; one to three numbers"},
      {"cupola explain --block 1024,2 square.ptx",
       "cupola: --block is '1024,2'; a block has 1 to 1024 threads, of them at most 64 in z\n"},
      {"cupola explain --block 0 square.ptx", "cupola: --block is '0'; a block has"},
      {"cupola explain --block 1,1,65 square.ptx", "cupola: --block is '1,1,65'; a block has"},
      {"cupola explain --block '' square.ptx", "cupola: --block is ''; one to three numbers"},
      {"cupola explain square.ptx --blok 32", "cupola: '--blok' is no option; cupolac's go behind a .cu file"},
      {"cupola explain --block 4294967295,4294967295,4294967295 square.ptx", "cupola: --block is '4294967295,"},
  };
  for (const auto& [command, message] : cases) {
    const ShellOutput output = shell(command);
    EXPECT_EQ(output.status, 1) << command;
    EXPECT_THAT(output.text, StartsWith(message)) << command;
    EXPECT_EQ(std::ranges::count(output.text, '\n'), 1) << output.text;
  }
  EXPECT_THAT(shell("cupola ptx square.ptx --run cube").text, HasSubstr("cube"));
}

TEST_F(KernelCode, ExplainsTheHotCodeOfABlock) {
  const ShellOutput output = shell("cupola explain --block 64 square.ptx");
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.text, AllOf(HasSubstr("kernel square\n  blocks of 64 x 1 x 1 threads, hot: a warp at a time\n"),
                                 Not(HasSubstr("blocks whose x"))));
  EXPECT_THAT(shell("cupola explain --block 16,16 square.ptx").text, HasSubstr("blocks of 16 x 16 x 1 threads, hot: "));
  EXPECT_EQ(shell("cupola explain --block 1 square.ptx").text,
            "kernel square\n  blocks of one thread: a thread at a time\n");
  const std::string bounded = "sed 's/, .param .u32 count)/&.maxntid 64/' square.ptx > bounded.ptx && ";
  EXPECT_EQ(
      shell(bounded + "cupola explain --block 65 bounded.ptx").text,
      "kernel square\n  blocks of 65 x 1 x 1 threads, hot: no launch may have them: the kernel takes 64 threads at "
      "most\n");
  const std::string required = "sed 's/, .param .u32 count)/&.reqntid 64/' square.ptx > required.ptx && ";
  EXPECT_EQ(
      shell(required + "cupola explain --block 32 required.ptx").text,
      "kernel square\n  blocks of 32 x 1 x 1 threads, hot: no launch may have them: the kernel takes those of 64 x "
      "1 x 1 threads only\n");
}

TEST_F(KernelCode, TheLogOfTheCompilerSaysWhatIsReadHow) {
  const char* const run = "cupola ptx square.ptx --run square --block 32 --args inout:u32:2,3,4,5 u32:3 2>&1";
  const ShellOutput logged = shell("CUPOLA_CACHE=off CUPOLA_LOG=compile " + std::string(run));
  EXPECT_THAT(logged.text,
              HasSubstr("cupola: compile: kernel square (blocks of 32 x 1 x 1 threads): a warp at a time\n    "));
  EXPECT_THAT(logged.text, AllOf(HasSubstr("\n    reads 4 bytes"), HasSubstr("\n    blocks beside each other")));
  EXPECT_THAT(shell(std::string(run)).text, Not(HasSubstr("reads 4 bytes")));
}

TEST_F(KernelCode, ListsAndExtractsWhatCupolacPacks) {
  write("k.cu", "__global__ void k(int* p) { *p = threadIdx.x; }\nint main() {}\n");
  const ShellOutput output = shell("cupolac k.cu -o k && cupola fatbin k --extract out && ls out");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, AllOf(HasSubstr("2 entries\n"), HasSubstr("k.1.1.sm_89.kir.bc\nk.1.2.sm_89.ptx\n")));
  EXPECT_THAT(read("out/k.1.2.sm_89.ptx"), HasSubstr(".entry _Z1kPi"));
  const ShellOutput ran = shell("cupola ptx out/k.1.1.sm_89.kir.bc --run _Z1kPi --args out:i32:1");
  EXPECT_EQ(ran.text, "argument 0: 0\n");
}

TEST_F(KernelCode, RefusesDamagedFatBinaries) {
  write("k.cu", "__global__ void k(int* p) { *p = 1; }\n");
  ASSERT_EQ(shell("cupolac -fatbin k.cu -o k.fatbin").status, 0);
  const std::string whole = read("k.fatbin");
  write("cut.fatbin", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(shell("cupola fatbin cut.fatbin").text,
              StartsWith("cupola: 'cut.fatbin': the fat binary at 0x0 is damaged"));
  std::string version = whole;
  version[4] = 9;
  write("version.fatbin", version);
  EXPECT_THAT(shell("cupola ptx version.fatbin").text, StartsWith("cupola: 'version.fatbin': the fat binary at 0x0"));
  write("none", std::string("\0\1\2", 3));
  EXPECT_THAT(shell("cupola fatbin none").text, HasSubstr("holds no fat binary"));
}

TEST(FindFatbins, FindsSeveralBetweenOtherBytes) {
  const std::string text = ".version 7.0\n";
  const image::FatbinEntry entry{.kind = image::FatbinKind::Ptx, .sm = 75, .payload = std::as_bytes(std::span(text))};
  const std::vector<std::byte> one = image::write_fatbin({&entry, 1}).value();
  std::vector<std::byte> file(13);
  file.insert(file.end(), one.begin(), one.end());
  file.insert(file.end(), one.begin(), one.begin() + 8);  // a header without its rest
  file.resize(file.size() + 3);
  file.insert(file.end(), one.begin(), one.end());
  const auto found = find_fatbins(file);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 2u);
  EXPECT_EQ((*found)[0].offset, 13u);
  EXPECT_EQ((*found)[1].offset, file.size() - one.size());
  EXPECT_EQ((*found)[1].entries[0].sm, 75u);
}

TEST(ParseArgument, TakesEveryKind) {
  EXPECT_EQ(text_of(parse_argument("in:f32:1,-0.5,1e10").value()), "1 -0.5 10000000000");
  EXPECT_EQ(text_of(parse_argument("inout:i8:-1,0x7f").value()), "-1 127");
  EXPECT_EQ(text_of(parse_argument("out:u64:3").value()), "0 0 0");
  const KernelArgument value = parse_argument("u16:0xffff").value();
  EXPECT_EQ(value.kind, KernelArgument::Kind::Value);
  EXPECT_EQ(value.bytes.size(), 2u);
  for (const char* wrong : {"", "i32", "i32:", "i32:x", "u8:256", "u32:-1", "out:i32:0", "out:i32:1,2", "in:i32:1,,2",
                            "f32:1.5.2", "in:in:i32:1", "i32:1,2"})
    EXPECT_FALSE(parse_argument(wrong)) << wrong;
}

}  // namespace
}  // namespace cupola::tool
