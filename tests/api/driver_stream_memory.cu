// Values in memory that streams wait for and write, and attributes of streams. Oracle: "CUDA Driver API, Stream Memory
// Operations" and "Stream Management".

#include "driver.h"

namespace {

struct Words {
  unsigned* host = nullptr;
  CUdeviceptr device = 0;
  Words() {
    CU_OK(cuMemHostAlloc(reinterpret_cast<void**>(&host), 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CU_OK(cuMemHostGetDevicePointer(&device, host, 0));
    std::memset(host, 0, 64);
  }
  ~Words() { CU_OK(cuMemFreeHost(host)); }
  void set(int i, unsigned value) { reinterpret_cast<std::atomic<unsigned>*>(host)[i].store(value); }
  unsigned get(int i) { return reinterpret_cast<std::atomic<unsigned>*>(host)[i].load(); }
};

CUstream make_stream() {
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

}  // namespace

CASE(a_stream_waits_for_a_value) {
  check::use_context();
  Words words;
  CUstream stream = make_stream();
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
  CU_OK(cuStreamDestroy(stream));
}

// GEQ: "(int32_t)(*addr - value) >= 0". EQ: "*addr == value". AND: "(*addr & value) != 0". NOR: "~(*addr | value) !=
// 0".
CASE(comparisons) {
  check::use_context();
  Words words;
  CUstream stream = make_stream();
  words.set(0, 2);
  CU_OK(cuStreamWaitValue32(stream, words.device, 0xfffffff0u, CU_STREAM_WAIT_VALUE_GEQ));  // cyclic
  CU_OK(cuStreamWaitValue32(stream, words.device, 2, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuStreamWaitValue32(stream, words.device, 3, CU_STREAM_WAIT_VALUE_AND));
  int nor = 0;
  CU_OK(cuDeviceGetAttribute(&nor, CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 0));
  if (nor) CU_OK(cuStreamWaitValue32(stream, words.device, 1, CU_STREAM_WAIT_VALUE_NOR));
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuStreamDestroy(stream));
}

CASE(one_stream_lets_another_go_on) {
  check::use_context();
  Words words;
  CUstream first = make_stream(), second = make_stream();
  CU_OK(cuStreamWaitValue64(first, words.device + 8, 1ull << 40, CU_STREAM_WAIT_VALUE_EQ));
  CU_OK(cuStreamWriteValue32(first, words.device, 1, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU_OK(cuStreamWriteValue64(second, words.device + 8, 1ull << 40, CU_STREAM_WRITE_VALUE_DEFAULT));
  CU_OK(cuStreamSynchronize(first));
  EXPECT(words.get(0) == 1 && words.get(3) == 256);
  CU_OK(cuStreamDestroy(first));
  CU_OK(cuStreamDestroy(second));
}

CASE(batch) {
  check::use_context();
  Words words;
  CUstream stream = make_stream();
  CUstreamBatchMemOpParams ops[3] = {};
  ops[0].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  ops[0].writeValue.address = words.device;
  ops[0].writeValue.value = 3;
  ops[1].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  ops[1].waitValue.address = words.device;
  ops[1].waitValue.value = 3;
  ops[1].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
  ops[2].operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  ops[2].writeValue.address = words.device + 8;
  ops[2].writeValue.value64 = 4;
  CU_OK(cuStreamBatchMemOp(stream, 3, ops, 0));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(words.get(0) == 3 && words.get(2) == 4);
  ops[0].operation = static_cast<CUstreamBatchMemOpType>(99);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 1, ops, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 257, ops, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamDestroy(stream));
}

CASE(memory_operations_refuse) {
  check::use_context();
  Words words;
  CUstream stream = make_stream();
  EXPECT_CUDA(cuStreamWaitValue32(stream, words.device + 2, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue64(stream, words.device + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue32(stream, words.device, 0, 0x10), CUDA_ERROR_INVALID_VALUE);
  // "This flag is not supported in the v2 API." Oracle of the number: an H200 (driver 580).
  EXPECT_CUDA(cuStreamWriteValue64(stream, words.device, 0, CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER),
              CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamDestroy(stream));
}

CASE(attributes) {
  check::use_context();
  CUstream stream = make_stream(), other = make_stream();
  CUstreamAttrValue value = {};
  value.syncPolicy = CU_SYNC_POLICY_YIELD;
  CU_OK(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  value = {};
  CU_OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT(value.syncPolicy == CU_SYNC_POLICY_YIELD);
  CU_OK(cuStreamCopyAttributes(other, stream));
  CU_OK(cuStreamGetAttribute(other, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
  EXPECT(value.syncPolicy == CU_SYNC_POLICY_YIELD);
  value = {};
  CU_OK(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value));
  EXPECT(value.accessPolicyWindow.num_bytes == 0);
  EXPECT_CUDA(cuStreamSetAttribute(stream, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  CUcontext context = nullptr;
  CUgreenCtx green = nullptr;
  CU_OK(cuStreamGetCtx_v2(stream, &context, &green));
  EXPECT(context == check::use_context() && green == nullptr);
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuStreamDestroy(other));
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
  CUDA_OK(cudaStreamDestroy(stream));
}

CHECK_MAIN()
