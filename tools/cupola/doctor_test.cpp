// cupola doctor and info on the build tree itself. Each problem is made by the environment.

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "cupola/doctor.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::tool {
namespace {

using cupolac::run_shell;
using cupolac::ShellOutput;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

ShellOutput cupola(const std::string& arguments, const std::string& environment = "") {
  return run_shell("LD_LIBRARY_PATH= " + environment + " " CUPOLA_BUILD_DIR "/bin/cupola " + arguments);
}

TEST(Doctor, FindsNoProblemInTheBuildTree) {
  const ShellOutput output = cupola("doctor");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text,
              AllOf(HasSubstr("ran with the right result"), HasSubstr("no problems\n"), Not(HasSubstr("problem  "))));
}

/// Cupola as the Python package has it, without cupolac; the folder is filled.
std::string cupola_alone(const std::filesystem::path& root) {
  const std::filesystem::path build = CUPOLA_BUILD_DIR;
  std::filesystem::create_directory(root / "bin");
  std::filesystem::copy(build / "bin" / "cupola", root / "bin");
  for (const char* folder : {"lib", "include"})
    std::filesystem::create_directory_symlink(build / folder, root / folder);
  return "LD_LIBRARY_PATH= CUPOLA_CLANG=/missing/clang++ " + (root / "bin" / "cupola").string() + " ";
}

TEST(Doctor, NeedsNoCompilerWhereCupolacIsNot) {
  const auto scratch = cupolac::Scratch::temporary().value();
  const ShellOutput output = run_shell(cupola_alone(scratch.path()) + "doctor");
  EXPECT_EQ(output.status, 0) << output.text;
  EXPECT_THAT(output.text, HasSubstr("kernel: PTX ran with the right result"));
}

TEST(Explain, SaysThatThereIsNoCupolac) {
  const auto scratch = cupolac::Scratch::temporary().value();
  const ShellOutput output = run_shell(cupola_alone(scratch.path()) + "explain program.cu");
  EXPECT_NE(output.status, 0);
  EXPECT_THAT(output.text, AllOf(HasSubstr("there is no cupolac"), Not(HasSubstr("flags"))));
}

TEST(Doctor, SaysWhereKernelsCannotRun) {
  EXPECT_EQ(obstacle_to_kernels("Linux", "x86_64"), std::nullopt);
  EXPECT_THAT(obstacle_to_kernels("Linux", "aarch64").value_or(""), HasSubstr("Linux on aarch64: kernels run only"));
  EXPECT_THAT(obstacle_to_kernels("Darwin", "arm64").value_or(""), HasSubstr("Darwin on arm64: kernels run only"));
  EXPECT_THAT(obstacle_to_kernels("Darwin", "x86_64").value_or(""), HasSubstr("Darwin on x86_64: kernels run only"));
}

TEST(Doctor, NamesAnotherDriverInTheLoadersPath) {
  const auto scratch = cupolac::Scratch::temporary().value();
  std::ofstream(scratch.path() + "/libcuda.so.1") << "";
  const ShellOutput output = cupola("doctor", "LD_LIBRARY_PATH=" + scratch.path());
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("problem  loader: LD_LIBRARY_PATH leads to another libcuda.so.1, " +
                                     scratch.path() + "/libcuda.so.1\n"));
}

TEST(Doctor, NamesAMissingClang) {
  const ShellOutput output = cupola("doctor", "CUPOLA_CLANG=/missing/clang++");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("problem  clang: CUPOLA_CLANG is '/missing/clang++', which is no program\n"));
}

TEST(Doctor, NamesACacheFolderThatCannotBeMade) {
  const ShellOutput output = cupola("doctor", "CUPOLA_CACHE_DIR=/dev/null/cache");
  EXPECT_EQ(output.status, 1);
  EXPECT_THAT(output.text, HasSubstr("problem  cache: /dev/null/cache"));
}

TEST(Info, ShowsDevicesAttributesAndSettings) {
  const ShellOutput output = cupola("info", "CUPOLA_WORKERS=3 CUPOLA_CACHE_DIR=/somewhere");
  EXPECT_EQ(output.status, 0) << output.text;
  for (const char* text :
       {"libcuda.so.1, version 13.0\n", "device 0: ", "compute capability 8.9", "  warp_size ", "/somewhere\n"})
    EXPECT_THAT(output.text, HasSubstr(text));
  EXPECT_THAT(output.text, testing::ContainsRegex("CUPOLA_WORKERS +3 "));
}

}  // namespace
}  // namespace cupola::tool
