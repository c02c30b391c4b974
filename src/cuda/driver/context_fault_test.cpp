// What a kernel error or a faulting copy does to contexts. Oracle: "CUDA Driver API": an error is sticky for the
// context that it happened in, until that is destroyed. The fault is a copy from registered memory that was unmapped
// since, which only a device with memory protection of its own notices.

#include <sys/mman.h>

#include <string_view>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

class ContextFaults : public WithContext {
 protected:
  void SetUp() override {
    WithContext::SetUp();
    if (std::string_view(getenv("CUPOLA_DEVICE")) == "null") GTEST_SKIP() << "the null device survives no bad address";
  }

  /// Lets the current context fault: queues the copy, does not wait.
  static void fault() {
    constexpr size_t kBytes = 4096;
    void* gone = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(gone, MAP_FAILED);
    CUdeviceptr memory = 0;
    ASSERT_EQ(cuMemAlloc(&memory, kBytes), CUDA_SUCCESS);
    ASSERT_EQ(cuMemHostRegister(gone, kBytes, 0), CUDA_SUCCESS);
    mprotect(gone, kBytes, PROT_NONE);  // what is unmapped may be mapped again by another thread
    ASSERT_EQ(cuMemcpyHtoDAsync(memory, gone, kBytes, nullptr), CUDA_SUCCESS);
  }
};

TEST_F(ContextFaults, BreakTheirContextOnly) {
  CUcontext other = nullptr;
  ASSERT_EQ(cuCtxCreate(&other, nullptr, 0, device_), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  ASSERT_EQ(cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);

  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  fault();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuStreamQuery(nullptr), CUDA_ERROR_ILLEGAL_ADDRESS);

  ASSERT_EQ(cuCtxSetCurrent(other), CUDA_SUCCESS);
  EXPECT_EQ(cuMemsetD8Async(memory, 7, 1 << 20, stream), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned char last = 0;
  EXPECT_EQ(cuMemcpyDtoH(&last, memory + (1 << 20) - 1, 1), CUDA_SUCCESS);
  EXPECT_EQ(last, 7);
  EXPECT_EQ(cuCtxDestroy(other), CUDA_SUCCESS);

  // The end of a whole context mends no broken one.
  ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cuMemAlloc(&memory, 16), CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_F(ContextFaults, EndWithAResetOfThePrimary) {
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  fault();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device_), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cupola::driver
