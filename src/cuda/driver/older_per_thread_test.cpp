// First versions of functions in their variants for per-thread default streams. cuda.h names neither: programs that
// were compiled long ago for per-thread streams call them. Oracle: "CUDA Driver API" of the versions that declared
// them.

#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using OlderPerThread = WithContext;

TEST_F(OlderPerThread, StreamsAreCaptured) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0, again = 0;
  CUgraph graph = nullptr, captured = nullptr;
  const CUgraphNode* nodes = nullptr;
  size_t count = 99;
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_ptsz(nullptr, nullptr, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
  ASSERT_EQ(cuStreamBeginCapture_ptsz(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamBeginCapture_ptsz(nullptr), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_EQ(cuStreamGetCaptureInfo_ptsz(nullptr, &status, &id), CUDA_SUCCESS);
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(cuStreamGetCaptureInfo_ptsz(nullptr, nullptr, &id), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamGetCaptureInfo_v2_ptsz(nullptr, &status, &again, &graph, &nodes, &count), CUDA_SUCCESS);
  EXPECT_EQ(again, id);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(cuStreamGetCaptureInfo_v2_ptsz(nullptr, nullptr, &id, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_ptsz(nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            CUDA_SUCCESS);
  EXPECT_EQ(cuStreamUpdateCaptureDependencies_ptsz(nullptr, nullptr, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamEndCapture_ptsz(nullptr, &captured), CUDA_SUCCESS);
  EXPECT_EQ(captured, graph);
  EXPECT_EQ(cuGraphDestroy(captured), CUDA_SUCCESS);
}

TEST_F(OlderPerThread, StreamsAreAsked) {
  CUcontext of = nullptr;
  CUgreenCtx green = nullptr;
  EXPECT_EQ(cuStreamGetCtx_v2_ptsz(nullptr, &of, &green), CUDA_SUCCESS);
  EXPECT_EQ(of, context_);
  EXPECT_EQ(cuStreamGetCtx_v2_ptsz(nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  const auto none = reinterpret_cast<CUstream>(uintptr_t{0x1234560});
  EXPECT_EQ(cuStreamCopyAttributes_ptsz(none, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamSynchronize_ptsz(none), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuMemPrefetchAsync_ptsz(0x1000, 64, 99, nullptr), CUDA_ERROR_INVALID_DEVICE);
}

TEST_F(OlderPerThread, ValuesAreWrittenAndWaitedFor) {
  unsigned long long* host = nullptr;
  ASSERT_EQ(cuMemHostAlloc(reinterpret_cast<void**>(&host), 64, 0), CUDA_SUCCESS);
  host[0] = host[1] = 0;
  const auto at = reinterpret_cast<CUdeviceptr>(host);
  EXPECT_EQ(cuStreamWriteValue32_ptsz(nullptr, at, 7, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitValue32_ptsz(nullptr, at, 7, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWriteValue64_ptsz(nullptr, at + 8, 9, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamWaitValue64_ptsz(nullptr, at + 8, 9, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  CUstreamBatchMemOpParams op = {};
  op.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  op.writeValue.address = at + 4;
  op.writeValue.value = 8;
  EXPECT_EQ(cuStreamBatchMemOp_ptsz(nullptr, 1, &op, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize_ptsz(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(host[0], 8ull << 32 | 7);
  EXPECT_EQ(host[1], 9u);
  EXPECT_EQ(cuStreamWriteValue32_ptsz(nullptr, at + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue32_ptsz(nullptr, at + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue64_ptsz(nullptr, at + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue64_ptsz(nullptr, at + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamBatchMemOp_ptsz(nullptr, 1, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFreeHost(host), CUDA_SUCCESS);
}

}  // namespace
}  // namespace cupola::driver
