// Values in memory that streams wait for and write, and attributes of streams. Oracle: "CUDA Driver API, Stream Memory
// Operations" and "Stream Management".

#include "driver_words.h"

CASE(a_stream_waits_for_a_value) {
  Words words;
  Stream stream;
  CU_OK(cuStreamWaitValue32(stream, words.device, 5, CU_STREAM_WAIT_VALUE_GEQ));
  CU_OK(cuStreamWriteValue32(stream, words.device + 4, 77, CU_STREAM_WRITE_VALUE_DEFAULT));
  check::Gate::pause(30);
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT(words.get(1) == 0);
  words.set(0, 4);
  check::Gate::pause(10);
  EXPECT(words.get(1) == 0);
  words.set(0, 6);
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(words.get(1) == 77);
}

namespace {

/// A comparison, a value that it does not hold for and one that it holds for.
struct Comparison {
  unsigned flag;
  cuuint64_t wanted, unmet, met;
};

/// GEQ: "(int32_t)(*addr - value) >= 0 (or int64_t for 64 bit values). Note this is a cyclic comparison". EQ: "*addr ==
/// value". AND: "(*addr & value) != 0". NOR: "~(*addr | value) != 0".
constexpr Comparison kComparisons32[] = {
    {CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 5},
    {CU_STREAM_WAIT_VALUE_GEQ, 0xfffffff0, 0xffffffef, 2},  // cyclic
    {CU_STREAM_WAIT_VALUE_EQ, 7, 6, 7},
    {CU_STREAM_WAIT_VALUE_EQ, 7, 8, 7},
    {CU_STREAM_WAIT_VALUE_AND, 0b0110, 0b1001, 0b1100},
    {CU_STREAM_WAIT_VALUE_NOR, 0x0000ffff, 0xffff0000, 0xfffe0001},
};
/// GEQ, EQ: the low half of what is found would do, were it alone. AND, NOR: only the high half tells.
constexpr Comparison kComparisons64[] = {
    {CU_STREAM_WAIT_VALUE_GEQ, 1ull << 32, 1, 1ull << 32},
    {CU_STREAM_WAIT_VALUE_GEQ, ~0ull << 4, ~0ull << 32 | 2, 2},  // cyclic
    {CU_STREAM_WAIT_VALUE_EQ, 3ull << 32 | 5, 5, 3ull << 32 | 5},
    {CU_STREAM_WAIT_VALUE_EQ, 3ull << 32 | 5, 4ull << 32 | 5, 3ull << 32 | 5},
    {CU_STREAM_WAIT_VALUE_AND, 6ull << 32, 9ull << 32 | 6, 4ull << 32},
    {CU_STREAM_WAIT_VALUE_NOR, 0xffffffff, ~0ull << 32, 0xfffffffeull << 32},
};

/// The stream stands still until the value is there, and then goes on to write the marker behind it.
void expect_held(Words& words, const Comparison& row, CUresult (*wait)(CUstream, CUdeviceptr, cuuint64_t, unsigned)) {
  Stream stream;
  words.set64(0, row.unmet);
  words.set(2, 0);
  CU_OK(wait(stream, words.device, row.wanted, row.flag));
  CU_OK(cuStreamWriteValue32(stream, words.device + 8, 77, CU_STREAM_WRITE_VALUE_DEFAULT));
  check::Gate::pause(20);
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQUAL(words.get(2), 0u);
  words.set64(0, row.met);
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQUAL(words.get(2), 77u);
}

}  // namespace

CASE(comparisons) {
  Words words;
  int nor = 0;
  CU_OK(cuDeviceGetAttribute(&nor, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 0));
  EXPECT_EQUAL(nor, 1);
  const auto wait32 = [](CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags) {
    return cuStreamWaitValue32(stream, at, static_cast<cuuint32_t>(value), flags);
  };
  const auto wait64 = [](CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags) {
    return cuStreamWaitValue64(stream, at, value, flags);
  };
  for (const Comparison& row : kComparisons32) expect_held(words, row, wait32);
  for (const Comparison& row : kComparisons64) expect_held(words, row, wait64);
}

CASE(one_stream_lets_another_go_on) {
  Words words;
  Stream first, second;
  CU_OK(cuStreamWaitValue64(first, words.device + 8, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuStreamWriteValue32(first, words.device, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU_OK(cuStreamWriteValue64(second, words.device + 8, 1ull << 40, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU_OK(cuStreamSynchronize(first));
  EXPECT(words.get(0) == 1 && words.get(3) == 256);
}

CASE(batch) {
  Words words;
  Stream stream;
  CUstreamBatchMemOpParams ops[] = {store(words.device, 3), wait_for(words.device, 3), store64(words.device + 8, 4)};
  CU_OK(cuStreamBatchMemOp(stream, 3, ops, 0));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(words.get(0) == 3 && words.get(2) == 4);
  ops[0].operation = static_cast<CUstreamBatchMemOpType>(99);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 1, ops, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 257, ops, 0), CUDA_ERROR_INVALID_VALUE);
}

CASE(memory_operations_refuse) {
  Words words;
  Stream stream;
  EXPECT_CUDA(cuStreamWaitValue32(stream, words.device + 2, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue64(stream, words.device + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue32(stream, words.device, 0, 0x10), CUDA_ERROR_INVALID_VALUE);
  // "This flag is not supported in the v2 API." Oracle of the number: an H200 (driver 580).
  EXPECT_CUDA(cuStreamWriteValue64(stream, words.device, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
              CUDA_ERROR_INVALID_VALUE);
}

CASE(attributes) {
  Stream stream, other;
  CUstreamAttrValue value = {};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  CU_OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value = {};
  CU_OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT(value.syncPolicy == CU_SYNC_POLICY_YIELD);
  CU_OK(cuStreamCopyAttributes(other, stream));
  value = {};
  CU_OK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT(value.syncPolicy == CU_SYNC_POLICY_YIELD);
  value.accessPolicyWindow.num_bytes = 99;
  CU_OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  EXPECT(value.accessPolicyWindow.num_bytes == 0);
  EXPECT_CUDA(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUcontext context = nullptr;
  CUgreenCtx green = reinterpret_cast<CUgreenCtx>(&value);
  CU_OK(cuStreamGetCtx_v2(stream, &context, &green));
  EXPECT(context == check::use_context() && green == nullptr);
}

CASE(runtime_attributes) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  cudaStreamAttrValue value = {};
  value.accessPolicyWindow.num_bytes = 0;
  value.accessPolicyWindow.hitRatio = 0.5f;
  value.accessPolicyWindow.hitProp = cudaAccessPropertyStreaming;
  CUDA_OK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  value = {};
  CUDA_OK(cudaStreamGetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &value));
  EXPECT(value.accessPolicyWindow.hitRatio == 0.5f);
  CUDA_OK(cudaStreamCopyAttributes(nullptr, stream));
  value = {};
  CUDA_OK(cudaStreamGetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &value));
  EXPECT(value.accessPolicyWindow.hitRatio == 0.5f);
  CUDA_OK(cudaStreamDestroy(stream));
}

CHECK_MAIN()
