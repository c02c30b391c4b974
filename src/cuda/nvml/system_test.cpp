// Initialisation, versions, errors, names of processes. Oracle: "NVML API Reference, Initialization and Cleanup, System
// Queries"; of numbers that libcuda gives too, libcuda.

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "cuda/nvml/with_nvml.h"

namespace cupola::nvml {
namespace {

/// Whether `call` succeeds in a child of fork() of this process.
template <typename Call>
bool succeeds_in_child(Call call) {
  const pid_t child = fork();
  if (child == 0) _exit(call() ? 0 : 1);
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(Init, IsCounted) {
  unsigned count = 0;
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
  ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
  ASSERT_EQ(nvmlInitWithFlags(NVML_INIT_FLAG_NO_GPUS | NVML_INIT_FLAG_NO_ATTACH), NVML_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
  EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_ERROR_UNINITIALIZED);
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
}

TEST(Init, MayComeAgain) {
  nvmlDevice_t first = nullptr, second = nullptr;
  for (nvmlDevice_t* device : {&first, &second}) {
    ASSERT_EQ(nvmlInit(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetHandleByIndex(0, device), NVML_SUCCESS);
    EXPECT_EQ(nvmlShutdown(), NVML_SUCCESS);
  }
  EXPECT_EQ(first, second);
}

TEST(Init, IsOfEveryThreadAlone) {
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        unsigned count = 0;
        failures += nvmlInit() != NVML_SUCCESS;
        failures += nvmlDeviceGetCount(&count) != NVML_SUCCESS || count != 1;
        failures += nvmlShutdown() != NVML_SUCCESS;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
}

TEST(InitDeathTest, FailsWithoutADevice) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    setenv("CUPOLA_DEVICE", "nothing", 1);
    EXPECT_EQ(nvmlInit(), NVML_ERROR_DRIVER_NOT_LOADED);
    EXPECT_EQ(nvmlInitWithFlags(0), NVML_ERROR_DRIVER_NOT_LOADED);
    EXPECT_EQ(nvmlShutdown(), NVML_ERROR_UNINITIALIZED);
    _exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "CUPOLA_DEVICE is 'nothing'");
}

TEST(InitDeathTest, SeesWhatCudaVisibleDevicesHides) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    unsigned count = 0;
    EXPECT_EQ(nvmlInit(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
    _exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

// Programs count devices so before they fork workers that use them.
TEST(InitDeathTest, LeavesTheDeviceToChildren) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto check = [] {
    unsigned count = 0;
    EXPECT_EQ(nvmlInit(), NVML_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetCount(&count), NVML_SUCCESS);
    EXPECT_EQ(cuDeviceGetCount(nullptr), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_TRUE(succeeds_in_child([] {
      CUcontext context = nullptr;
      CUdeviceptr memory = 0;
      return cuInit(0) == CUDA_SUCCESS && cuCtxCreate(&context, nullptr, 0, 0) == CUDA_SUCCESS &&
             cuMemAlloc(&memory, 16) == CUDA_SUCCESS && cuMemsetD8(memory, 1, 16) == CUDA_SUCCESS &&
             cuCtxSynchronize() == CUDA_SUCCESS;
    }));
    _exit(testing::Test::HasFailure());
  };
  EXPECT_EXIT(check(), testing::ExitedWithCode(0), "");
}

TEST(ErrorString, IsThereForEveryNumber) {
  EXPECT_STREQ(nvmlErrorString(NVML_SUCCESS), "no error");
  EXPECT_STREQ(nvmlErrorString(NVML_ERROR_UNKNOWN), "something went wrong inside the library");
  EXPECT_STREQ(nvmlErrorString(static_cast<nvmlReturn_t>(500)), "no error of NVML has this number");
}

TEST(CudaDriverVersion, IsThatOfLibcuda) {
  int expected = 0, version = 0, version_2 = 0;
  ASSERT_EQ(cuDriverGetVersion(&expected), CUDA_SUCCESS);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion(&version), NVML_SUCCESS);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion_v2(&version_2), NVML_SUCCESS);
  EXPECT_EQ(version, expected);
  EXPECT_EQ(version_2, expected);
  EXPECT_EQ(NVML_CUDA_DRIVER_VERSION_MAJOR(version), 13);
  EXPECT_EQ(NVML_CUDA_DRIVER_VERSION_MINOR(13020), 2);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion(nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlSystemGetCudaDriverVersion_v2(nullptr), NVML_ERROR_INVALID_ARGUMENT);
}

using System = WithNvml;

TEST_F(System, VersionsAreCupolas) {
  char text[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE];
  ASSERT_EQ(nvmlSystemGetDriverVersion(text, sizeof text), NVML_SUCCESS);
  EXPECT_STREQ(text, CUPOLA_VERSION);
  ASSERT_EQ(nvmlSystemGetNVMLVersion(text, sizeof text), NVML_SUCCESS);
  EXPECT_STREQ(text, "13." CUPOLA_VERSION);
}

TEST_F(System, TextsMustFitTheirBuffers) {
  char text[] = "keep";
  EXPECT_EQ(nvmlSystemGetDriverVersion(text, sizeof CUPOLA_VERSION - 1), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_EQ(nvmlSystemGetNVMLVersion(text, 0), NVML_ERROR_INSUFFICIENT_SIZE);
  EXPECT_STREQ(text, "keep");
  EXPECT_EQ(nvmlSystemGetDriverVersion(nullptr, 80), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlSystemGetNVMLVersion(nullptr, 80), NVML_ERROR_INVALID_ARGUMENT);
  char fits[sizeof CUPOLA_VERSION];
  EXPECT_EQ(nvmlSystemGetDriverVersion(fits, sizeof fits), NVML_SUCCESS);
}

TEST_F(System, ProcessesHaveTheNamesThatTheyWereStartedBy) {
  std::ifstream file("/proc/self/cmdline");
  std::string expected;
  std::getline(file, expected, '\0');
  char name[4096], start[5];
  ASSERT_EQ(nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), name, sizeof name), NVML_SUCCESS);
  EXPECT_EQ(name, expected);
  ASSERT_EQ(nvmlSystemGetProcessName(static_cast<unsigned>(getpid()), start, sizeof start), NVML_SUCCESS);
  EXPECT_EQ(start, expected.substr(0, 4));
  EXPECT_EQ(nvmlSystemGetProcessName(0x7FFFFFFF, name, sizeof name), NVML_ERROR_NOT_FOUND);
  EXPECT_EQ(nvmlSystemGetProcessName(1, name, 0), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlSystemGetProcessName(1, nullptr, sizeof name), NVML_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cupola::nvml
