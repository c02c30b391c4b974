// __device__, __constant__ and __managed__ variables from the host, channel descriptions, and driver entry points by
// name. Oracle: "CUDA Runtime API", Memory Management, Texture Object Management, Driver Entry Point Access.

#include "api.h"

__device__ int numbers[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float factor = 2.0f;
static int no_symbol = 0;

__global__ void scale_kernel(float* out) {
  out[threadIdx.x] = static_cast<float>(numbers[threadIdx.x]) * factor;
}

CASE(copy_to_and_from_a_symbol) {
  const int two[] = {70, 80};
  const float half = 0.5f;
  CUDA_OK(cudaMemcpyToSymbol(numbers, two, sizeof two, 6 * sizeof(int)));
  CUDA_OK(cudaMemcpyToSymbol(factor, &half, sizeof half));
  check::Managed<float> out(8);
  scale_kernel<<<1, 8>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  const float expected[] = {0.5f, 1, 1.5f, 2, 2.5f, 3, 35, 40};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQUAL_AT(static_cast<long long>(i), out[i], expected[i]);
  int back[3] = {};
  CUDA_OK(cudaMemcpyFromSymbol(back, numbers, sizeof back, 5 * sizeof(int)));
  EXPECT_EQUAL(back[0], 6);
  EXPECT_EQUAL(back[2], 80);
}

CASE(copy_in_a_stream) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  const int value = 33;
  int back = 0;
  CUDA_OK(cudaMemcpyToSymbolAsync(numbers, &value, sizeof value, 4, cudaMemcpyHostToDevice, stream));
  CUDA_OK(cudaMemcpyFromSymbolAsync(&back, numbers, sizeof back, 4, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(back, 33);
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(address_and_size) {
  int* address = nullptr;
  size_t size = 0;
  CUDA_OK(cudaGetSymbolAddress(reinterpret_cast<void**>(&address), numbers));
  CUDA_OK(cudaGetSymbolSize(&size, numbers));
  EXPECT_EQUAL(size, 32u);
  int value = 0;
  CUDA_OK(cudaMemcpy(&value, address + 2, sizeof value, cudaMemcpyDeviceToHost));
  EXPECT_EQUAL(value, 3);
  cudaPointerAttributes attributes;
  CUDA_OK(cudaPointerGetAttributes(&attributes, address));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeDevice);
}

CASE(refusals) {
  const int value = 1;
  size_t size = 0;
  void* address = nullptr;
  EXPECT_CUDA(cudaMemcpyToSymbol(no_symbol, &value, sizeof value), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGetSymbolAddress(&address, no_symbol), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGetSymbolSize(&size, no_symbol), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaMemcpyToSymbol(numbers, &value, sizeof value, 32), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyToSymbol(numbers, &value, sizeof value, 0, cudaMemcpyDeviceToHost),
              cudaErrorInvalidMemcpyDirection);
}

CASE(channel_descriptions) {
  const cudaChannelFormatDesc two = cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindUnsigned);
  EXPECT_EQUAL(two.x, 16);
  EXPECT_EQUAL(two.y, 16);
  EXPECT_EQUAL(two.z, 0);
  EXPECT_EQUAL(two.f, cudaChannelFormatKindUnsigned);
  const cudaChannelFormatDesc four = cudaCreateChannelDesc<float4>();
  EXPECT_EQUAL(four.w, 32);
  EXPECT_EQUAL(four.f, cudaChannelFormatKindFloat);
}

CASE(driver_entry_points) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSymbolNotFound;
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuDriverGetVersion", &found, 12000, cudaEnableDefault, &status));
  EXPECT_EQUAL(status, cudaDriverEntryPointSuccess);
  int by_pointer = 0, by_name = 0;
  if (found) EXPECT_EQUAL(reinterpret_cast<int (*)(int*)>(found)(&by_pointer), 0);
  CUDA_OK(cudaDriverGetVersion(&by_name));
  EXPECT_EQUAL(by_pointer, by_name);
  CUDA_OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &found, 12000, cudaEnableDefault, &status));
  EXPECT_EQUAL(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT(found == nullptr);
  CUDA_OK(cudaGetDriverEntryPoint("cuInit", &found, cudaEnableDefault, &status));
  EXPECT_EQUAL(status, cudaDriverEntryPointSuccess);
}

CHECK_MAIN()
