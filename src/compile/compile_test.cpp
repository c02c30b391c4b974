#include "compile/compile.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "image/compile_request.h"
#include "image/cpu_abi.h"
#include "image/kernel_image.h"
#include "image/loader.h"

// The library through its C entry, as libcuda uses it. Oracle of the kernel: the sum computed here.

namespace cupola {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAddKernel = R"(
  target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
  target triple = "nvptx64-nvidia-cuda"
  define ptx_kernel void @add(ptr %out, i32 %a, i32 %b) {
    %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
    %s = add i32 %a, %b
    %r = add i32 %s, %t
    store i32 %r, ptr %out
    ret void
  }
  declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
)";

struct Answer {
  int code;
  std::vector<std::byte> bytes;
  std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

Answer compile_bytes(std::span<const std::byte> request) {
  void* output = nullptr;
  size_t size = 0;
  const int code = cupola_compile(request.data(), request.size(), &output, &size);
  const auto* begin = static_cast<const std::byte*>(output);
  Answer answer{code, {begin, begin + size}};
  cupola_compile_free(output);
  return answer;
}

Answer compile_text(const std::string& text, const std::string& target = "cpu:x86_64:test",
                    const std::string& keep = "") {
  const auto bytes = std::as_bytes(std::span(text));
  return compile_bytes(image::serialize(
      image::CompileRequest{target, keep, {{image::CodeKind::Kir, {bytes.begin(), bytes.end()}}}, "all"}));
}

void run_add(const image::KernelImage& image) {
  ASSERT_EQ(image.kernels.size(), 1u);
  EXPECT_EQ(image.kernels[0].info.name, "add");
  ASSERT_EQ(image.kernels[0].info.parameter_bytes, 16u);
  auto segment = image::LoadedSegment::load(image);
  ASSERT_TRUE(segment) << segment.error().message;
  image::cpu::ThreadContext context{};
  context.tid[0] = 7;
  int out = 0;
  struct {
    int* out;
    int a, b;
  } parameters{&out, 30, 5};
  const auto entry =
      reinterpret_cast<image::cpu::KernelEntry>(const_cast<void*>((*segment)->at(image.kernels[0].entry)));
  entry(&context, reinterpret_cast<const std::byte*>(&parameters));
  EXPECT_EQ(out, 30 + 5 + 7);
}

TEST(Compile, MakesAnImageThatRuns) {
  const Answer answer = compile_text(kAddKernel);
  ASSERT_EQ(answer.code, 0) << answer.text();
  auto image = image::deserialize(answer.bytes);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->target, "cpu:x86_64:test");
  run_add(*image);
}

TEST(Compile, WorksOnSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<int> codes(4, -1);
  for (int& code : codes) threads.emplace_back([&code] { code = compile_text(kAddKernel).code; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(codes, ::testing::Each(0));
}

TEST(Compile, SaysWhatIsWrongInOneLine) {
  const Answer syntax = compile_text("define nonsense");
  EXPECT_EQ(syntax.code, static_cast<int>(ErrorCode::InvalidImage)) << syntax.text();
  EXPECT_FALSE(syntax.text().empty());
  const Answer missing = compile_text(
      std::string(kAddKernel) + "declare void @gone()\ndefine ptx_kernel void @k() { call void @gone()\n ret void }");
  EXPECT_NE(missing.code, 0);
  EXPECT_THAT(missing.text(), HasSubstr("gone"));
  const Answer target = compile_text(kAddKernel, "metal:3.0");
  EXPECT_EQ(target.code, static_cast<int>(ErrorCode::NoBinaryForGpu));
  EXPECT_THAT(target.text(), HasSubstr("metal:3.0"));
}

TEST(Compile, RefusesBytesThatAreNoRequest) {
  const std::string garbage = "not a request at all";
  EXPECT_NE(compile_bytes(std::as_bytes(std::span(garbage))).code, 0);
  EXPECT_NE(compile_bytes({}).code, 0);
}

// Oracle of the texts: the PTX ISA. What such PTX computes is tested in tests/ptx/round_trip.
TEST(Compile, MakesPtx) {
  const Answer answer = compile_text(kAddKernel, "ptx:sm_90");
  ASSERT_EQ(answer.code, 0) << answer.text();
  for (const char* part : {".target sm_90\n", ".visible .entry add(", "%tid.x;", "st.global.b32", "ret;"})
    EXPECT_THAT(answer.text(), HasSubstr(part));
}

/// PTX leaves the device runtime to the GPU's own.
TEST(Compile, MakesPtxOfKernelsThatLaunch) {
  const Answer answer = compile_text(R"(
    target triple = "nvptx64-nvidia-cuda"
    %dim3 = type { i32, i32, i32 }
    declare ptr @cudaGetParameterBuffer(i64, i64)
    declare i32 @cudaLaunchDevice(ptr, ptr, ptr byval(%dim3) align 4, ptr byval(%dim3) align 4, i32, ptr)
    define ptx_kernel void @k(ptr %grid) {
      %buffer = call ptr @cudaGetParameterBuffer(i64 64, i64 8)
      store ptr %grid, ptr %buffer
      call i32 @cudaLaunchDevice(ptr @k, ptr %buffer, ptr byval(%dim3) align 4 %grid, ptr byval(%dim3) align 4 %grid, i32 0, ptr null)
      ret void
    })",
                                     "ptx:sm_90");
  ASSERT_EQ(answer.code, 0) << answer.text();
  for (const char* part : {".extern .func  (.param .b64 func_retval0) cudaGetParameterBuffer",
                           ".extern .func  (.param .b32 func_retval0) cudaLaunchDevice"})
    EXPECT_THAT(answer.text(), HasSubstr(part));
  EXPECT_THAT(answer.text(), Not(HasSubstr(".callprototype")));  // declared as the library defines them
}

TEST(Compile, RefusesPtxOfAKernelNamedAsTheGpusFunctionThatItCalls) {
  const Answer answer = compile_text(R"(
    target triple = "nvptx64-nvidia-cuda"
    declare void @_ZdlPv(ptr)
    define ptx_kernel void @free(ptr %p) {
      call void @_ZdlPv(ptr %p)
      ret void
    })",
                                     "ptx:sm_90");
  EXPECT_EQ(static_cast<ErrorCode>(answer.code), ErrorCode::NotSupported);
  EXPECT_THAT(answer.text(), HasSubstr("'free' is defined here and called as the GPU's own function"));
}

TEST(Compile, MakesKirOfItsPtx) {
  const Answer ptx = compile_text(kAddKernel, "ptx:sm_89");
  const image::CompileRequest request{"kir", "", {{image::CodeKind::Ptx, ptx.bytes}}};
  const Answer kir = compile_bytes(image::serialize(request));
  ASSERT_EQ(kir.code, 0) << kir.text();
  EXPECT_THAT(kir.text(), HasSubstr("define ptx_kernel void @add(i64"));
  const Answer image = compile_text(kir.text());
  ASSERT_EQ(image.code, 0) << image.text();
  run_add(image::deserialize(image.bytes).value());
}

TEST(Compile, GivesPlainInstructionsInPtxTheirMeaning) {
  const Answer answer = compile_text(R"(
    target triple = "nvptx64-nvidia-cuda"
    define ptx_kernel void @k(ptr %out, i32 %a, float %x) {
      %shifted = ashr exact i32 %a, 40
      %truncated = fptosi float %x to i32
      %product = fmul contract float %x, 3.0
      %sum = fadd contract float %product, 1.0
      %apart = fmul float %x, 5.0
      %more = fadd float %apart, 2.0
      %both = add i32 %shifted, %truncated
      store i32 %both, ptr %out
      %second = getelementptr float, ptr %out, i64 1
      store float %sum, ptr %second
      %third = getelementptr float, ptr %out, i64 2
      store float %more, ptr %third
      ret void
    })",
                                     "ptx:sm_80");
  ASSERT_EQ(answer.code, 0) << answer.text();
  // A shift by 32 or more, which LLVM may make anything of, gives the sign in every bit; contraction is decided;
  // nothing is left for ptxas to fuse.
  EXPECT_THAT(answer.text(), ::testing::ContainsRegex("shr.s32 \t%r[0-9]+, %r[0-9]+, 31;"));
  EXPECT_THAT(answer.text(), HasSubstr("fma.rn.f32"));
  EXPECT_THAT(answer.text(), HasSubstr("mul.rn.f32"));
  EXPECT_THAT(answer.text(), HasSubstr("add.rn.f32"));
}

TEST(Compile, RefusesPtxInOneLine) {
  for (const char* target : {"ptx:sm_12", "ptx:banana", "ptx:"}) {
    const Answer answer = compile_text(kAddKernel, target);
    EXPECT_NE(answer.code, 0) << target;
    EXPECT_THAT(answer.text(), ::testing::Not(HasSubstr("\n"))) << target;
  }
  const Answer own = compile_text(
      "target triple = \"nvptx64-nvidia-cuda\"\ndeclare void @cupola.grid.sync()\n"
      "define ptx_kernel void @k() { call void @cupola.grid.sync()\n ret void }",
      "ptx:sm_89");
  EXPECT_EQ(own.code, static_cast<int>(ErrorCode::NotSupported));
  EXPECT_THAT(own.text(), HasSubstr("cupola.grid.sync"));
}

TEST(Compile, ExplainsHowKernelsRun) {
  const Answer answer = compile_text(R"(
    target triple = "nvptx64-nvidia-cuda"
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @cupola.tid.x()
      %far = mul i32 %t, 3
      %i = zext i32 %t to i64
      %near = getelementptr i32, ptr %p, i64 %i
      store i32 %far, ptr %near
      %j = load i32, ptr %p
      %k = zext i32 %j to i64
      %there = getelementptr [3 x i32], ptr %near, i64 %k
      store i32 1, ptr %there
      ret void
    }
    define ptx_kernel void @_Z5namedv() { call void @cupola.barrier(i32 1, i32 0)
      ret void })",
                                     "explain");
  ASSERT_EQ(answer.code, 0) << answer.text();
  const std::string text = answer.text();
  EXPECT_TRUE(text.starts_with("kernel k\n  blocks whose x is a multiple of 32: a warp at a time\n")) << text;
  EXPECT_THAT(text, HasSubstr("    reads 4 bytes: one place for all lanes\n"));
  EXPECT_THAT(text, HasSubstr("    writes 4 bytes: a row of 32"));
  EXPECT_THAT(text,
              HasSubstr("kernel named()\n  blocks whose x is a multiple of 32: a warp at a time, with a stack for "
                        "each: its threads meet in other ways than all of the block's at once\n"));
}

Answer explain(const std::string& text, const std::string& code) {
  const auto bytes = std::as_bytes(std::span(text));
  return compile_bytes(image::serialize(
      image::CompileRequest{"explain", "", {{image::CodeKind::Kir, {bytes.begin(), bytes.end()}}}, code}));
}

TEST(Compile, ExplainsTheHotCodeOfAShape) {
  const std::string kernel = R"(
    target triple = "nvptx64-nvidia-cuda"
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    define ptx_kernel void @meets(ptr %p, ptr %q) {
      %t = call i32 @cupola.tid.x()
      %far = zext i32 %t to i64
      %in = getelementptr i32, ptr %p, i64 %far
      store i32 %t, ptr %in
      call void @cupola.barrier(i32 0, i32 0)
      %out = getelementptr i32, ptr %q, i64 %far
      store i32 %t, ptr %out
      ret void
    })";
  const Answer hot = explain(kernel, "rows-64x1x1-hot"), line = explain(kernel, "line-50x1x1");
  EXPECT_EQ(hot.text(),
            "kernel meets\n  blocks of 64 x 1 x 1 threads, hot: a warp at a time\n"
            "    from barrier to barrier, each piece for one warp after the other\n"
            "    writes 4 bytes: a row of 32 (2 times)\n");
  EXPECT_THAT(line.text(), ::testing::StartsWith("kernel meets\n  blocks of 50 x 1 x 1 threads: a warp at a time\n"));
  const Answer nothing = explain(kernel, "rows-50x1x1");
  EXPECT_EQ(nothing.code, static_cast<int>(ErrorCode::InvalidImage));
  EXPECT_THAT(nothing.text(), HasSubstr("'rows-50x1x1' names no blocks to explain"));
}

/// How the names of the files end that the compiler kept of kernel `add`.
std::vector<std::string> kept_in(const std::filesystem::path& folder) {
  std::vector<std::string> endings;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string name = file.path().filename();
    EXPECT_TRUE(name.starts_with("add-")) << name;
    endings.push_back(name.substr(name.find('.')));
    EXPECT_GT(file.file_size(), 0u);
  }
  return endings;
}

TEST(Compile, KeepsIntermediateFiles) {
  const auto folder = std::filesystem::temp_directory_path() / ("cupola-keep-" + std::to_string(getpid()));
  const Answer answer = compile_text(kAddKernel, "cpu:x86_64:test", folder.string());
  ASSERT_EQ(answer.code, 0) << answer.text();
  EXPECT_THAT(kept_in(folder), ::testing::UnorderedElementsAre(".kir.ll", ".prepared.ll", ".host.ll", ".s"));
  std::filesystem::remove_all(folder);
}

TEST(Compile, KeepsFilesOfCodeThatWasLeftForLater) {
  const auto folder = std::filesystem::temp_directory_path() / ("cupola-keep-later-" + std::to_string(getpid()));
  const auto kernel = std::as_bytes(std::span(kAddKernel, std::strlen(kAddKernel)));
  const Answer module = compile_bytes(image::serialize(
      image::CompileRequest{"cpu:x86_64:test", "", {{image::CodeKind::Kir, {kernel.begin(), kernel.end()}}}, ""}));
  const auto image = image::deserialize(module.bytes);
  ASSERT_TRUE(image) << module.text();
  const Answer code = compile_bytes(image::serialize(image::CompileRequest{
      "cpu:x86_64:test", folder.string(), {{image::CodeKind::KernelUnit, image->kernels[0].unit}}, "any"}));
  ASSERT_EQ(code.code, 0) << code.text();
  EXPECT_THAT(kept_in(folder), ::testing::UnorderedElementsAre(".any.host.ll", ".any.s"));
  std::filesystem::remove_all(folder);
}

TEST(Compile, AUnitIsForOneClassAndItself) {
  const std::vector<std::byte> unit(8, std::byte{1});
  const image::CodeUnit one{image::CodeKind::KernelUnit, unit};
  for (const auto& [units, code] : {std::pair{std::vector{one}, "none"}, std::pair{std::vector{one}, ""},
                                    std::pair{std::vector{one, one}, "rows"}, std::pair{std::vector{one}, "rows"}}) {
    const Answer answer = compile_bytes(image::serialize(image::CompileRequest{"cpu:x86_64:test", "", units, code}));
    EXPECT_EQ(answer.code, static_cast<int>(ErrorCode::InvalidImage)) << code;
    EXPECT_THAT(answer.text(), ::testing::Not(HasSubstr("\n")));
  }
}

/// A copy of the library in a folder of its own, with some of the files that belong beside it. Stays loaded, as
/// libcuda's does.
class Installation {
 public:
  explicit Installation(std::initializer_list<const char*> files) {
    Dl_info info{};
    EXPECT_NE(dladdr(dlsym(RTLD_DEFAULT, "cupola_compile"), &info), 0);
    const std::filesystem::path original = info.dli_fname;
    std::filesystem::create_directories(folder_ / "cupola");
    for (const char* file : files) copy_file(original.parent_path() / "cupola" / file, folder_ / "cupola" / file);
    copy_file(original, folder_ / "compiler.so");
    library_ = dlopen((folder_ / "compiler.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(library_, nullptr) << dlerror();
  }
  ~Installation() { std::filesystem::remove_all(folder_); }
  Installation(const Installation&) = delete;
  Installation& operator=(const Installation&) = delete;

  Answer compile(const std::string& target) const {
    const auto bytes = std::as_bytes(std::span(kAddKernel, std::strlen(kAddKernel)));
    const auto request =
        image::serialize(image::CompileRequest{target, "", {{image::CodeKind::Kir, {bytes.begin(), bytes.end()}}}, {}});
    void* output = nullptr;
    size_t size = 0;
    const auto entry = reinterpret_cast<decltype(&cupola_compile)>(dlsym(library_, "cupola_compile"));
    const auto release = reinterpret_cast<decltype(&cupola_compile_free)>(dlsym(library_, "cupola_compile_free"));
    const int code = entry(request.data(), request.size(), &output, &size);
    const auto* begin = static_cast<const std::byte*>(output);
    Answer answer{code, {begin, begin + size}};
    release(output);
    return answer;
  }

 private:
  static inline int count_ = 0;
  const std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() /
      ("cupola-installation-" + std::to_string(getpid()) + "-" + std::to_string(count_++));
  void* library_ = nullptr;
};

TEST(Compile, SaysWhichLibraryAnInstallationLacks) {
  for (const char* target : {"cpu:x86_64:test", "ptx:sm_89"}) {
    const Answer answer = Installation({}).compile(target);
    EXPECT_EQ(answer.code, static_cast<int>(ErrorCode::JitCompilerNotFound));
    EXPECT_THAT(answer.text(), HasSubstr("the installation lacks"));
    EXPECT_THAT(answer.text(), HasSubstr("/cupola/device.bc: "));
  }
  EXPECT_EQ(Installation({"device.bc"}).compile("cpu:x86_64:test").code, 0);
}

}  // namespace
}  // namespace cupola
