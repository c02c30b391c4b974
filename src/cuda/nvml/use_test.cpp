// Memory, utilisation, clock and processes. Oracle: libcuda, of the same device in this process; for what each call
// refuses "NVML API Reference, Device Queries".

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cuda/nvml/with_nvml.h"

namespace cupola::nvml {
namespace {

class Use : public WithNvml {
 protected:
  void SetUp() override {
    WithNvml::SetUp();
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
  }
  nvmlMemory_t memory() const {
    nvmlMemory_t now{};
    EXPECT_EQ(nvmlDeviceGetMemoryInfo(device_, &now), NVML_SUCCESS);
    return now;
  }
};

/// A current context, until the end of the scope.
class Context {
 public:
  Context() { EXPECT_EQ(cuCtxCreate(&context_, nullptr, 0, 0), CUDA_SUCCESS); }
  ~Context() { EXPECT_EQ(cuCtxDestroy(context_), CUDA_SUCCESS); }

 private:
  CUcontext context_ = nullptr;
};

constexpr size_t kBytes = 64 << 20;

TEST_F(Use, MemoryIsWhatLibcudaSays) {
  const Context context;
  CUdeviceptr block = 0;
  ASSERT_EQ(cuMemAlloc(&block, kBytes), CUDA_SUCCESS);
  size_t free = 0, total = 0;
  ASSERT_EQ(cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(memory().total, total);
  EXPECT_EQ(memory().free, free);
  EXPECT_EQ(memory().used, total - free);
  EXPECT_GE(memory().used, kBytes);
  nvmlMemory_v2_t second{.version = nvmlMemory_v2, .reserved = 1};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo_v2(device_, &second), NVML_SUCCESS);
  EXPECT_EQ(second.version, nvmlMemory_v2);
  EXPECT_EQ(second.total, total);
  EXPECT_EQ(second.free, free);
  EXPECT_EQ(second.used, total - free);
  EXPECT_EQ(second.reserved, 0u);
  ASSERT_EQ(cuMemFree(block), CUDA_SUCCESS);
  EXPECT_LE(memory().used, total - free - kBytes);
}

TEST_F(Use, MemoryRefusesWhatIsNoAnswer) {
  nvmlMemory_t first;
  nvmlMemory_v2_t second{.version = nvmlMemory_v2};
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo(other_, &first), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(other_, &second), NVML_ERROR_INVALID_ARGUMENT);
  second.version = 2;
  EXPECT_EQ(nvmlDeviceGetMemoryInfo_v2(device_, &second), NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
}

// Of another process nothing is known: neither memory nor contexts.
TEST_F(Use, IsOfThisProcess) {
  const Context context;
  CUdeviceptr block = 0;
  ASSERT_EQ(cuMemAlloc(&block, kBytes), CUDA_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    nvmlMemory_t now{};
    unsigned processes = 7;
    const bool none = nvmlDeviceGetMemoryInfo(device_, &now) == NVML_SUCCESS && now.total > 0 && now.used == 0 &&
                      nvmlDeviceGetComputeRunningProcesses(device_, &processes, nullptr) == NVML_SUCCESS &&
                      processes == 0;
    _exit(none ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_GE(memory().used, kBytes);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(Use, UtilizationIsInPercent) {
  nvmlUtilization_t now{101, 101};
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device_, &now), NVML_SUCCESS);
  EXPECT_LE(now.gpu, 100u);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(device_, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetUtilizationRates(other_, &now), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Use, UtilizationOfMemoryIsThePartInUse) {
  const Context context;
  const unsigned long long total = memory().total;
  CUdeviceptr block = 0;
  ASSERT_EQ(cuMemAlloc(&block, total / 10), CUDA_SUCCESS);
  nvmlUtilization_t now{};
  ASSERT_EQ(nvmlDeviceGetUtilizationRates(device_, &now), NVML_SUCCESS);
  EXPECT_EQ(now.memory, memory().used * 100 / total);
  EXPECT_GE(now.memory, 9u);
  EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
}

TEST_F(Use, ClockIsThatOfTheProcessor) {
  int khz = -1;
  ASSERT_EQ(cuDeviceGetAttribute(&khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0), CUDA_SUCCESS);
  for (const nvmlClockType_t type : {NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM}) {
    unsigned mhz = 0;
    const nvmlReturn_t status = nvmlDeviceGetClockInfo(device_, type, &mhz);
    EXPECT_EQ(status, khz > 0 ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(mhz, static_cast<unsigned>(khz / 1000));
  }
  unsigned mhz = 0;
  EXPECT_EQ(nvmlDeviceGetClockInfo(device_, NVML_CLOCK_MEM, &mhz), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceGetClockInfo(device_, NVML_CLOCK_VIDEO, &mhz), NVML_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(nvmlDeviceGetClockInfo(device_, static_cast<nvmlClockType_t>(4), &mhz), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetClockInfo(device_, NVML_CLOCK_SM, nullptr), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetClockInfo(other_, NVML_CLOCK_SM, &mhz), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Use, ProcessesAreThisOneWhileItHasAContext) {
  nvmlProcessInfo_t infos[2];
  unsigned count = 2;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, infos), NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
  {
    const Context context;
    CUdeviceptr block = 0;
    ASSERT_EQ(cuMemAlloc(&block, kBytes), CUDA_SUCCESS);
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, infos), NVML_SUCCESS);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(infos[0].pid, static_cast<unsigned>(getpid()));
    EXPECT_EQ(infos[0].usedGpuMemory, memory().used);
    EXPECT_EQ(infos[0].gpuInstanceId, 0xFFFFFFFF);
    EXPECT_EQ(infos[0].computeInstanceId, 0xFFFFFFFF);
    EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, nullptr), NVML_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(cuMemFree(block), CUDA_SUCCESS);
  }
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, infos), NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, nullptr, infos), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(other_, &count, infos), NVML_ERROR_INVALID_ARGUMENT);
}

TEST_F(Use, PrimaryContextsCountToo) {
  CUcontext primary = nullptr;
  unsigned count = 0;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, nullptr), NVML_ERROR_INSUFFICIENT_SIZE);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses(device_, &count, nullptr), NVML_SUCCESS);
  EXPECT_EQ(count, 0u);
}

TEST_F(Use, NoProcessDrawsOrSharesThroughMps) {
  const Context context;
  nvmlProcessInfo_t infos[1];
  unsigned graphics = 1, mps = 1;
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses(device_, &graphics, infos), NVML_SUCCESS);
  EXPECT_EQ(graphics, 0u);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses(device_, &mps, infos), NVML_SUCCESS);
  EXPECT_EQ(mps, 0u);
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses(device_, nullptr, infos), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetGraphicsRunningProcesses(other_, &graphics, infos), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses(device_, nullptr, infos), NVML_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(nvmlDeviceGetMPSComputeRunningProcesses(other_, &mps, infos), NVML_ERROR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace cupola::nvml
