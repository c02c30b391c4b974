// Batches of copies and of hints of the runtime API. Oracle: "CUDA Runtime API, Memory Management":
// cudaMemcpyBatchAsync, cudaMemcpy3DBatchAsync, cudaMemPrefetchBatchAsync and relatives.

#include "streams.h"

namespace {

cudaMemcpyAttributes ordered(cudaMemcpySrcAccessOrder order) {
  cudaMemcpyAttributes attributes = {};
  attributes.srcAccessOrder = order;
  return attributes;
}

cudaMemcpy3DOperand operand(void* at, size_t row_length = 0, size_t layer_height = 0) {
  cudaMemcpy3DOperand made = {};
  made.type = cudaMemcpyOperandTypePointer;
  made.op.ptr.ptr = at;
  made.op.ptr.rowLength = row_length;
  made.op.ptr.layerHeight = layer_height;
  return made;
}

}  // namespace

CASE(copies) {
  Stream stream;
  Device first(64), second(64);
  std::vector<int> host(128), back(128, -1);
  for (int i = 0; i < 128; ++i) host[i] = i * i;
  const void *to[] = {first.at, second.at}, *from[] = {host.data(), host.data() + 64};
  size_t sizes[] = {256, 128}, firsts[] = {0, 1};
  cudaMemcpyAttributes attributes[] = {ordered(cudaMemcpySrcAccessOrderDuringApiCall),
                                       ordered(cudaMemcpySrcAccessOrderStream)};
  CUDA_OK(cudaMemcpyBatchAsync(to, from, sizes, 2, attributes, firsts, 2, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  const void* out[] = {back.data(), back.data() + 64};
  CUDA_OK(cudaMemcpyBatchAsync(out, to, sizes, 2, attributes + 1, firsts, 1, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  for (int i = 0; i < 96; ++i) EXPECT_EQUAL_AT(i, back[i], i * i);
  for (int i = 96; i < 128; ++i) EXPECT_EQUAL_AT(i, back[i], -1);
}

CASE(copies_refuse) {
  Stream stream;
  Device memory(64);
  int host[64] = {};
  const void *to[] = {memory.at}, *from[] = {host};
  size_t size = sizeof host, first = 0;
  cudaMemcpyAttributes attributes = ordered(cudaMemcpySrcAccessOrderDuringApiCall);
  CUDA_OK(cudaMemcpyBatchAsync(to, from, &size, 1, &attributes, &first, 1, stream));
  EXPECT_CUDA(cudaMemcpyBatchAsync(to, from, &size, 1, &attributes, &first, 2, stream), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyBatchAsync(to, from, &size, 1, &attributes, &first, 1, cudaStreamLegacy),
              cudaErrorInvalidValue);
  attributes = ordered(cudaMemcpySrcAccessOrderInvalid);
  EXPECT_CUDA(cudaMemcpyBatchAsync(to, from, &size, 1, &attributes, &first, 1, stream), cudaErrorInvalidValue);
  CUDA_OK(cudaStreamSynchronize(stream));
  (void)cudaGetLastError();
}

CASE(boxes) {
  Stream stream;
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc ints = cudaCreateChannelDesc<int>();
  CUDA_OK(cudaMallocArray(&array, &ints, 16, 8));
  std::vector<int> host(16 * 8), back(6 * 4, -1);
  for (int i = 0; i < 128; ++i) host[i] = 1000 + i;
  cudaMemcpy3DBatchOp op = {};
  op.src = operand(host.data(), 16, 8);
  op.dst.type = cudaMemcpyOperandTypeArray;
  op.dst.op.array.array = array;
  op.dst.op.array.offset = {2, 1, 0};
  op.extent = {6, 4, 1};
  op.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  CUDA_OK(cudaMemcpy3DBatchAsync(1, &op, 0, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  op.src = op.dst;
  op.dst = operand(back.data());
  CUDA_OK(cudaMemcpy3DBatchAsync(1, &op, 0, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x) EXPECT_EQUAL_AT(y * 6 + x, back[y * 6 + x], 1000 + y * 16 + x);
  op.extent = {0, 4, 1};
  EXPECT_CUDA(cudaMemcpy3DBatchAsync(1, &op, 0, stream), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy3DBatchAsync(1, nullptr, 0, stream), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CUDA_OK(cudaFreeArray(array));
}

CASE(hints) {
  Stream stream;
  unsigned char* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 4 << 20));
  void* at[] = {managed, managed + (2 << 20)};
  size_t sizes[] = {2 << 20, 2 << 20}, firsts[] = {0, 1};
  cudaMemLocation places[] = {{cudaMemLocationTypeDevice, 0}, {cudaMemLocationTypeHost, 0}};
  CUDA_OK(cudaMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 2, 0, stream));
  CUDA_OK(cudaMemDiscardBatchAsync(at, sizes, 1, 0, stream));
  CUDA_OK(cudaMemDiscardAndPrefetchBatchAsync(at, sizes, 2, places, firsts, 1, 0, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  cudaMemLocationType last = cudaMemLocationTypeInvalid;
  CUDA_OK(
      cudaMemRangeGetAttribute(&last, sizeof last, cudaMemRangeAttributeLastPrefetchLocationType, managed, 4 << 20));
  EXPECT_EQUAL(last, cudaMemLocationTypeDevice);
  CUDA_OK(cudaMemset(managed, 0x21, 4 << 20));
  EXPECT(check::all_bytes(managed, 4 << 20, 0x21));
  EXPECT_CUDA(cudaMemPrefetchBatchAsync(at, sizes, 2, places, firsts, 2, 1, stream), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemDiscardBatchAsync(at, sizes, 2, 1, stream), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemDiscardAndPrefetchBatchAsync(at, sizes, 2, places, firsts, 0, 0, stream), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  CUDA_OK(cudaFree(managed));
}

CHECK_MAIN()
