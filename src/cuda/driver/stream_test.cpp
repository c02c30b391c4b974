// What streams promise. Oracle: "CUDA Driver API, Stream Management".

#include <thread>

#include "cuda/driver/gate.h"
#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Streams = WithContext;

TEST_F(Streams, KnowTheirProperties) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100), CUDA_SUCCESS);
  unsigned flags = 0;
  int priority = 0, least = 0, greatest = 0;
  CUcontext context = nullptr;
  ASSERT_EQ(cuCtxGetStreamPriorityRange(&least, &greatest), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetFlags(stream, &flags), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetPriority(stream, &priority), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetCtx(stream, &context), CUDA_SUCCESS);
  EXPECT_EQ(flags, unsigned{CU_STREAM_NON_BLOCKING});
  EXPECT_EQ(priority, greatest);
  EXPECT_EQ(context, context_);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Streams, AreAsynchronous) {
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(cuLaunchHostFunc(stream, Gate::wait, &gate), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamQuery(stream), CUDA_SUCCESS);
}

TEST_F(Streams, LegacyWaitsForBlockingOnesAndTheyForIt) {
  CUstream blocking = nullptr, free = nullptr;
  ASSERT_EQ(cuStreamCreate(&blocking, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&free, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr memory = 0;
  ASSERT_EQ(cuMemAlloc(&memory, 64), CUDA_SUCCESS);
  Gate gate;
  ASSERT_EQ(cuLaunchHostFunc(blocking, Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 1, 64, CU_STREAM_LEGACY), CUDA_SUCCESS);
  CUstream later = nullptr;
  ASSERT_EQ(cuStreamCreate(&later, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 2, 64, later), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD8Async(memory, 3, 64, free), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(free), CUDA_SUCCESS);  // takes no part in the order
  EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(later), CUDA_ERROR_NOT_READY);
  gate.open();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  unsigned char host = 0;
  ASSERT_EQ(cuMemcpyDtoH(&host, memory, 1), CUDA_SUCCESS);
  EXPECT_EQ(host, 2);
}

TEST_F(Streams, PerThreadOnesAreOneAThread) {
  unsigned long long here = 0, again = 0, there = 0;
  ASSERT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &here), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamGetId_ptsz(nullptr, &again), CUDA_SUCCESS);
  std::thread([&] {
    ASSERT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamGetId(CU_STREAM_PER_THREAD, &there), CUDA_SUCCESS);
  }).join();
  EXPECT_EQ(here, again);
  EXPECT_NE(here, there);
}

TEST_F(Streams, CallbacksGetTheirStream) {
  static CUstream seen;
  CUstream stream = nullptr;
  ASSERT_EQ(cuStreamCreate(&stream, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamAddCallback(
                stream, [](CUstream from, CUresult status, void*) { seen = status == CUDA_SUCCESS ? from : nullptr; },
                nullptr, 0),
            CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(seen, stream);
  EXPECT_EQ(cuStreamAddCallback(stream, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
}

}  // namespace
}  // namespace cupola::driver
