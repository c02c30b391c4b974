// Copies of bytes in a row to, from and between CUDA arrays. Oracle: "CUDA Runtime API, Memory Management [DEPRECATED]"
// and "CUDA Driver API, Memory Management": bytes run through the rows of an array, one after another.

#include <algorithm>
#include <numeric>

#include "driver.h"

namespace {

constexpr size_t kWidth = 10, kHeight = 4, kRow = kWidth * sizeof(int), kBytes = kRow * kHeight;

cudaArray_t make_array(size_t width = kWidth, size_t height = kHeight) {
  cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindSigned);
  cudaArray_t array = nullptr;
  CUDA_OK(cudaMallocArray(&array, &format, width, height));
  return array;
}

std::vector<int> numbers(int first = 0) {
  std::vector<int> values(kWidth * kHeight);
  std::iota(values.begin(), values.end(), first);
  return values;
}

std::vector<int> contents(cudaArray_t array) {
  std::vector<int> values(kWidth * kHeight, -1);
  CUDA_OK(cudaMemcpy2DFromArray(values.data(), kRow, array, 0, 0, kRow, kHeight, cudaMemcpyDeviceToHost));
  return values;
}

}  // namespace

CASE(whole_arrays) {
  cudaArray_t array = make_array();
  const std::vector<int> sent = numbers();
  std::vector<int> received(sent.size(), -1);
  CUDA_OK(cudaMemcpyToArray(array, 0, 0, sent.data(), kBytes, cudaMemcpyHostToDevice));
  EXPECT(contents(array) == sent);
  CUDA_OK(cudaMemcpyFromArray(received.data(), array, 0, 0, kBytes, cudaMemcpyDeviceToHost));
  EXPECT(received == sent);
  CUDA_OK(cudaFreeArray(array));
}

CASE(a_run_from_the_middle_of_a_row) {
  cudaArray_t array = make_array();
  std::vector<int> expected = numbers(100), part = numbers(0);
  CUDA_OK(cudaMemcpyToArray(array, 0, 0, expected.data(), kBytes, cudaMemcpyHostToDevice));
  // 27 numbers from the seventh of row 1 on: its rest, row 2 whole, and 13 would not fit, so 23.
  constexpr int kFirst = kWidth + 7, kCount = 23;
  CUDA_OK(cudaMemcpyToArray(array, 7 * sizeof(int), 1, part.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  std::copy_n(part.begin(), kCount, expected.begin() + kFirst);
  EXPECT(contents(array) == expected);
  std::vector<int> back(kCount, -1);
  CUDA_OK(cudaMemcpyFromArray(back.data(), array, 7 * sizeof(int), 1, kCount * sizeof(int), cudaMemcpyDeviceToHost));
  EXPECT(std::equal(back.begin(), back.end(), part.begin()));
  EXPECT_CUDA(cudaMemcpyToArray(array, 0, 3, part.data(), kBytes, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA_OK(cudaFreeArray(array));
}

CASE(from_device_memory_and_in_streams) {
  cudaArray_t array = make_array();
  const std::vector<int> sent = numbers(5);
  int* device = nullptr;
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaMalloc(&device, kBytes));
  CUDA_OK(cudaMemcpy(device, sent.data(), kBytes, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpyToArrayAsync(array, 0, 0, device, kBytes, cudaMemcpyDeviceToDevice, stream));
  CUDA_OK(cudaMemsetAsync(device, 0, kBytes, stream));
  CUDA_OK(cudaMemcpyFromArrayAsync(device, array, 0, 0, kBytes, cudaMemcpyDefault, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  std::vector<int> received(sent.size(), -1);
  CUDA_OK(cudaMemcpy(received.data(), device, kBytes, cudaMemcpyDeviceToHost));
  EXPECT(received == sent);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFree(device));
  CUDA_OK(cudaFreeArray(array));
}

CASE(between_arrays) {
  cudaArray_t from = make_array(), to = make_array(), narrow = make_array(4, 10);
  const std::vector<int> sent = numbers(1);
  CUDA_OK(cudaMemcpyToArray(from, 0, 0, sent.data(), kBytes, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemcpyArrayToArray(to, 0, 0, from, 0, 0, kBytes, cudaMemcpyDeviceToDevice));
  EXPECT(contents(to) == sent);
  // Rows of another width: the bytes follow each other all the same.
  CUDA_OK(cudaMemcpyArrayToArray(narrow, 0, 0, from, 0, 0, kBytes, cudaMemcpyDeviceToDevice));
  std::vector<int> received(sent.size(), -1);
  CUDA_OK(cudaMemcpyFromArray(received.data(), narrow, 0, 0, kBytes, cudaMemcpyDeviceToHost));
  EXPECT(received == sent);
  CUDA_OK(cudaMemcpy2DArrayToArray(to, 0, 0, from, 2 * sizeof(int), 1, 3 * sizeof(int), 2, cudaMemcpyDeviceToDevice));
  std::vector<int> expected = sent;
  for (size_t y = 0; y < 2; ++y)
    for (size_t x = 0; x < 3; ++x) expected[y * kWidth + x] = sent[(y + 1) * kWidth + x + 2];
  EXPECT(contents(to) == expected);
  CUDA_OK(cudaFreeArray(from));
  CUDA_OK(cudaFreeArray(to));
  CUDA_OK(cudaFreeArray(narrow));
}

CASE(driver_copies) {
  check::use_context();
  CUDA_ARRAY_DESCRIPTOR shape = {kWidth * kHeight, 0, CU_AD_FORMAT_SIGNED_INT32, 1};
  CUarray one = nullptr, two = nullptr;
  CU_OK(cuArrayCreate(&one, &shape));
  CU_OK(cuArrayCreate(&two, &shape));
  const std::vector<int> sent = numbers(3);
  std::vector<int> received(sent.size(), -1);
  CUdeviceptr device = 0;
  CU_OK(cuMemAlloc(&device, kBytes));
  CU_OK(cuMemcpyHtoA(one, 0, sent.data(), kBytes));
  CU_OK(cuMemcpyAtoA(two, 0, one, 0, kBytes));
  CU_OK(cuMemcpyAtoD(device, two, 0, kBytes));
  CU_OK(cuMemcpyDtoA(one, 4, device, 8));
  CU_OK(cuMemcpyAtoH(received.data(), one, 4, 8));
  EXPECT(received[0] == 3 && received[1] == 4);
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, 0));
  CU_OK(cuMemcpyHtoAAsync(one, 0, sent.data(), kBytes, stream));
  CU_OK(cuMemcpyAtoHAsync(received.data(), one, 0, kBytes, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(received == sent);
  EXPECT_CUDA(cuMemcpyHtoA(one, 4, sent.data(), kBytes), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuMemFree(device));
  CU_OK(cuArrayDestroy(one));
  CU_OK(cuArrayDestroy(two));
}

CASE(copies_into_arrays_are_captured) {
  cudaArray_t array = make_array(kWidth * kHeight, 0);
  const std::vector<int> sent = numbers(9);
  std::vector<int> received(sent.size(), -1);
  CUstream stream = nullptr;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuMemcpyHtoAAsync(reinterpret_cast<CUarray>(array), 0, sent.data(), kBytes, stream));
  CU_OK(cuMemcpyAtoHAsync(received.data(), reinterpret_cast<CUarray>(array), 0, kBytes, stream));
  CU_OK(cuStreamEndCapture(stream, &graph));
  EXPECT(received[0] == -1);
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  CU_OK(cuGraphLaunch(exec, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(received == sent);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
  CU_OK(cuStreamDestroy(stream));
  CUDA_OK(cudaFreeArray(array));
}

CASE(hints_of_managed_memory) {
  constexpr size_t kHalf = 1 << 20;
  char* block = nullptr;
  CUDA_OK(cudaMallocManaged(reinterpret_cast<void**>(&block), 2 * kHalf));
  int concurrent = 0, mostly = -1;
  CUDA_OK(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
  if (concurrent) {
    cudaMemLocation place{cudaMemLocationTypeDevice, 0};
    CUDA_OK(cudaMemAdvise(block, kHalf, cudaMemAdviseSetReadMostly, place));
    CUDA_OK(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, block, kHalf));
    EXPECT(mostly == 1);
    // "1 if all pages in the given memory range have read-duplication enabled, or 0 otherwise."
    CUDA_OK(cudaMemRangeGetAttribute(&mostly, sizeof mostly, cudaMemRangeAttributeReadMostly, block, 2 * kHalf));
    EXPECT(mostly == 0);
    CUDA_OK(cudaMemAdvise(block, 2 * kHalf, cudaMemAdviseSetPreferredLocation, place));
    int preferred = -5, accessed[2] = {-5, -5};
    void* data[] = {&preferred, accessed};
    size_t sizes[] = {sizeof preferred, sizeof accessed};
    cudaMemRangeAttribute wanted[] = {cudaMemRangeAttributePreferredLocation, cudaMemRangeAttributeAccessedBy};
    CUDA_OK(cudaMemRangeGetAttributes(data, sizes, wanted, 2, block, 2 * kHalf));
    EXPECT(preferred == 0);
    // "If fewer devices are returned than fit, the remaining entries are cudaInvalidDeviceId."
    EXPECT(accessed[0] == cudaInvalidDeviceId && accessed[1] == cudaInvalidDeviceId);
  }
  EXPECT_CUDA(cudaMemRangeGetAttribute(&mostly, 3, cudaMemRangeAttributeReadMostly, block, kHalf),
              cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemRangeGetAttribute(&mostly, 4, cudaMemRangeAttributeReadMostly, block, 0), cudaErrorInvalidValue);
  cudaGetLastError();
  CUDA_OK(cudaFree(block));
}

CHECK_MAIN()
