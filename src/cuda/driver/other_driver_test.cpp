// A second libcuda in the process draws a warning that names it. The second one is a copy of the library under test,
// which the loader takes for another because it is another file.

#include <cuda.h>
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace cupola::driver {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::IsEmpty;

/// Runs a disabled test of this program in a process of its own; what it writes.
std::string output_of(const std::string& test, const std::string& environment) {
  const std::string command = environment + " " + fs::read_symlink("/proc/self/exe").string() +
                              " --gtest_also_run_disabled_tests --gtest_filter=OtherDriverProcess.DISABLED_" + test +
                              " 2>&1 >/dev/null";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (!pipe) return "popen failed";
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

class OtherDriver : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(copy_.parent_path());
    fs::copy_file(CUPOLA_LIBCUDA, copy_, fs::copy_options::overwrite_existing);
  }
  void TearDown() override { fs::remove_all(copy_.parent_path()); }
  fs::path copy_ = fs::path(testing::TempDir()) / ("other_driver_" + std::to_string(getpid())) / "libcuda.so.1";
};

TEST_F(OtherDriver, IsNamedOnce) {
  const std::string text = output_of("InitialisesTwice", "OTHER=" + copy_.string());
  EXPECT_THAT(text, HasSubstr("cupola: warning: another libcuda is loaded in this process: " + copy_.string() + ";"));
  EXPECT_EQ(text.find("warning"), text.rfind("warning")) << text;
}

TEST_F(OtherDriver, IsNotSeenWhereThereIsNone) {
  EXPECT_THAT(output_of("InitialisesTwice", ""), IsEmpty());
}

TEST_F(OtherDriver, KeepsQuietWhenAsked) {
  EXPECT_THAT(output_of("InitialisesTwice", "CUPOLA_LOG=none OTHER=" + copy_.string()), IsEmpty());
}

TEST(OtherDriverProcess, DISABLED_InitialisesTwice) {
  if (const char* other = std::getenv("OTHER")) ASSERT_TRUE(dlopen(other, RTLD_NOW | RTLD_LOCAL)) << dlerror();
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cupola::driver
