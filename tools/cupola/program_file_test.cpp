#include "cupola/program_file.h"

#include <gmock/gmock.h>

#include <fstream>

#include "cupola/program_run.h"
#include "cupolac/installation.h"
#include "cupolac/lists.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

using cupolac::run_shell;
using testing::AllOf;
using testing::HasSubstr;

/// Programs of each sort, made here: what other compilers' libraries look like is imitated by name only.
class ProgramFiles : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) { std::ofstream(path(name)) << text; }
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }

  void clang(const std::string& arguments) {
    const auto compiler = cupolac::find_clang();
    ASSERT_TRUE(compiler);
    const auto output =
        run_shell("cd " + scratch_.path() + " && " + cupolac::shell_word(compiler->string()) + " " + arguments);
    ASSERT_EQ(output.status, 0) << output.text;
  }

  std::string reason(const std::string& name) {
    auto program = ProgramFile::read(path(name));
    EXPECT_TRUE(program && *program) << name;
    return program && *program ? why_not(**program) : "unreadable";
  }

  /// A library of this soname with one function, and a program linked to it.
  void program_needing(const std::string& soname, const std::string& options = "") {
    write("library.cpp", "extern \"C\" int cudaMalloc(void**, unsigned long) { return 0; }\n");
    write("user.cpp",
          "extern \"C\" int cudaMalloc(void**, unsigned long);\nint main() { return cudaMalloc(nullptr, 0); }\n");
    clang("-shared -fPIC library.cpp -Wl,-soname," + soname + " -o " + soname);
    clang("user.cpp ./" + soname + " " + options + " -o user");
  }

 private:
  cupolac::Scratch scratch_ = cupolac::Scratch::temporary().value();
};

TEST_F(ProgramFiles, SharedRuntime13CanRun) {
  program_needing("libcudart.so.13");
  auto program = ProgramFile::read(path("user"));
  ASSERT_TRUE(program && *program);
  EXPECT_TRUE((*program)->dynamic);
  EXPECT_THAT((*program)->needed, testing::Contains("libcudart.so.13"));
  EXPECT_EQ(why_not(**program), "");
}

TEST_F(ProgramFiles, OtherRuntimesAreNamed) {
  program_needing("libcudart.so.12");
  EXPECT_THAT(reason("user"), HasSubstr("needs libcudart.so.12"));
}

TEST_F(ProgramFiles, RuntimeInsideIsToldFromOurs) {
  write("inside.cpp",
        "extern \"C\" int cudaMalloc(void**, unsigned long) { return 0; }\nint main() { return cudaMalloc(nullptr, 0); "
        "}\n");
  clang("inside.cpp -o inside");
  EXPECT_THAT(reason("inside"), AllOf(HasSubstr("linked into it"), HasSubstr("cupolac")));
  write("ours.cu", "__global__ void nothing() {}\nint main() { nothing<<<1, 1>>>(); }\n");
  const auto output =
      run_shell(CUPOLA_BUILD_DIR "/bin/cupolac -cudart static " + path("ours.cu") + " -o " + path("ours"));
  ASSERT_EQ(output.status, 0) << output.text;
  EXPECT_EQ(reason("ours"), "");
}

TEST_F(ProgramFiles, StrippedRuntimeInsideIsSeenByItsDeviceCode) {
  write("code.cpp", "__attribute__((section(\".nv_fatbin\"), used)) static const int code = 1;\nint main() {}\n");
  clang("code.cpp -s -o code");
  EXPECT_THAT(reason("code"), HasSubstr("linked into it"));
}

TEST_F(ProgramFiles, RpathThatWinsIsNamed) {
  program_needing("libcudart.so.13", "-Wl,--disable-new-dtags -Wl,-rpath," + path(""));
  EXPECT_THAT(reason("user"), AllOf(HasSubstr("RPATH"), HasSubstr("libcudart.so.13")));
  program_needing("libcudart.so.13", "-Wl,--enable-new-dtags -Wl,-rpath," + path(""));
  EXPECT_EQ(reason("user"), "");
}

TEST_F(ProgramFiles, OrdinaryProgramsAndScriptsCanRun) {
  write("plain.cpp", "int main() {}\n");
  clang("plain.cpp -o plain");
  EXPECT_EQ(reason("plain"), "");
  write("script", "#!/bin/sh\n");
  auto script = ProgramFile::read(path("script"));
  ASSERT_TRUE(script);
  EXPECT_FALSE(*script);
}

TEST_F(ProgramFiles, BrokenFilesAreErrors) {
  write("short", "\177ELF\2\1\1");
  EXPECT_FALSE(ProgramFile::read(path("short")));
  EXPECT_FALSE(ProgramFile::read(path("missing")));
}

TEST_F(ProgramFiles, RunPutsOurLibrariesFirst) {
  const std::string tool = "LD_LIBRARY_PATH=/other " CUPOLA_BUILD_DIR "/bin/cupola run ";
  const auto output = run_shell(tool + "sh -c 'echo $LD_LIBRARY_PATH $CUPOLA_LIBRARY_PATH; exit 3'");
  EXPECT_EQ(output.status, 3);
  EXPECT_EQ(output.text, CUPOLA_BUILD_DIR "/lib:/other " CUPOLA_BUILD_DIR "/lib\n");
  program_needing("libcudart.so.12");
  const auto refusal = run_shell(tool + path("user"));
  EXPECT_EQ(refusal.status, 1);
  EXPECT_THAT(refusal.text, testing::StartsWith("cupola: '" + path("user") + "' cannot run with Cupola: "));
  EXPECT_THAT(run_shell(tool + "no-such-program").text, HasSubstr("'no-such-program' is not in the folders of PATH"));
}

TEST_F(ProgramFiles, RunLeadsPythonToOurLibraries) {
  const std::string own = CUPOLA_BUILD_DIR "/lib/cupola";
  const std::string tool = "CUDA_HOME=/other PYTHONPATH=/mine " CUPOLA_BUILD_DIR "/bin/cupola run ";
  const auto variables = run_shell(tool + "sh -c 'echo $CUDA_HOME $CUDA_PATH $PYTHONPATH $NUMBA_CUDA_DRIVER'");
  EXPECT_EQ(variables.text,
            own + "/toolkit " + own + "/toolkit " + own + "/python:/mine " CUPOLA_BUILD_DIR "/lib/libcuda.so.1\n");
  // A package that looks for CUDA finds ours loaded, by name; before, nothing is.
  write("numba.py", "");
  write("sitecustomize.py", "print('the next one')\n");
  write("asks.py",
        "loaded = lambda: 'libcuda.so.1' in open('/proc/self/maps').read()\n"
        "print(loaded())\nimport numba\nprint(loaded())\n");
  const auto output =
      run_shell("PYTHONPATH=" + path("") + " " CUPOLA_BUILD_DIR "/bin/cupola run python3 -B " + path("asks.py"));
  EXPECT_EQ(output.text, "the next one\nFalse\nTrue\n");
}

// The program says which library it got; it is never started without ours, because the machine may have another one.
TEST_F(ProgramFiles, RunGivesOurSharedRuntime) {
  write("main.cpp",
        "#include <dlfcn.h>\n#include <cstdio>\nextern \"C\" int cudaRuntimeGetVersion(int*);\n"
        "int main() {\n  int version = 0;\n  Dl_info info;\n  cudaRuntimeGetVersion(&version);\n"
        "  dladdr(reinterpret_cast<void*>(&cudaRuntimeGetVersion), &info);\n"
        "  std::printf(\"%d %s\\n\", version, info.dli_fname);\n}\n");
  clang("main.cpp -L" CUPOLA_BUILD_DIR "/lib -lcudart -ldl -o main");
  const auto output = run_shell("LD_LIBRARY_PATH= " CUPOLA_BUILD_DIR "/bin/cupola run " + path("main"));
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, "13000 " CUPOLA_BUILD_DIR "/lib/libcudart.so.13\n");
}

}  // namespace
}  // namespace cupola::tool
