// What contexts promise. Oracle: "CUDA Driver API, Context Management, Primary Context Management".

#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Contexts = WithContext;

TEST_F(Contexts, ForkedChildIsToldSo) {
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr memory = 0;
    _exit(cuMemAlloc(&memory, 64) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(Contexts, CreateMakesCurrentAndPopRestores) {
  CUcontext second = nullptr, current = nullptr;
  ASSERT_EQ(cuCtxCreate(&second, nullptr, 0, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, second);
  ASSERT_EQ(cuCtxPopCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, second);
  ASSERT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
  EXPECT_EQ(current, context_);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxDestroy(second), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, AThreadStartsWithout) {
  std::thread([] {
    CUcontext current = reinterpret_cast<CUcontext>(1);
    EXPECT_EQ(cuCtxGetCurrent(&current), CUDA_SUCCESS);
    EXPECT_EQ(current, nullptr);
    CUdeviceptr memory = 0;
    EXPECT_EQ(cuMemAlloc(&memory, 64), CUDA_ERROR_INVALID_CONTEXT);
    EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(Contexts, OthersSeeThatItIsDestroyed) {
  CUcontext second = nullptr;
  ASSERT_EQ(cuCtxCreate(&second, nullptr, 0, device_), CUDA_SUCCESS);
  std::thread([second] { EXPECT_EQ(cuCtxDestroy(second), CUDA_SUCCESS); }).join();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
}

TEST_F(Contexts, RejectsBadFlags) {
  CUcontext second = nullptr;
  EXPECT_EQ(cuCtxCreate(&second, nullptr, CU_CTX_SCHED_SPIN | CU_CTX_SCHED_YIELD, device_), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuCtxCreate(&second, nullptr, 0, 99), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(Contexts, PrimaryIsActiveWhileRetained) {
  CUcontext first = nullptr, second = nullptr;
  unsigned flags = 0;
  int active = -1;
  ASSERT_EQ(cuDevicePrimaryCtxGetState(device_, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&first, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, device_), CUDA_SUCCESS);
  EXPECT_EQ(first, second);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(device_, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  ASSERT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, ResetFreesWhatThePrimaryHolds) {
  CUcontext primary = nullptr;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(primary), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  ASSERT_EQ(cuMemAlloc(&memory, 1 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(device_), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
  unsigned type = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(cuCtxPopCurrent(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
}

// "Resetting the primary context does not release it, an application that has retained the primary context should
// explicitly release its usage": CUDA Driver API, cuDevicePrimaryCtxReset.
TEST_F(Contexts, ResetDoesNotRelease) {
  CUcontext primary = nullptr;
  unsigned flags = 0;
  int active = -1;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxReset(device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(device_, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 0);
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&primary, device_), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  ASSERT_EQ(cuDevicePrimaryCtxGetState(device_, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQ(active, 1);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_SUCCESS);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(device_), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(Contexts, LimitsAreKept) {
  size_t value = 0;
  ASSERT_EQ(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 64 << 20), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MALLOC_HEAP_SIZE), CUDA_SUCCESS);
  EXPECT_EQ(value, 64u << 20);
  EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, size_t{1} << 60), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_MAX), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cupola::driver
