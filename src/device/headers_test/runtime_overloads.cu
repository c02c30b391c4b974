// The C++ overloads of the runtime API.
__constant__ float table[16];
__device__ int counter;
template <typename T>
__global__ void kernel(T* out, int n) {
  if (n > 0) out[0] = (T)counter + (T)table[0];
}

int main() {
  float *a, *b;
  int blocks, size;
  cudaMalloc(&a, 16);
  cudaMallocManaged(&b, 16);
  cudaMallocHost(&b, 16);
  cudaHostAlloc(&b, 16, cudaHostAllocDefault);
  cudaMallocAsync(&b, 16, (cudaStream_t)0);
  cudaMemcpyToSymbol(table, a, 16);
  cudaMemcpyFromSymbol(a, counter, 4, 0, cudaMemcpyDeviceToHost);
  void* address;
  size_t bytes;
  cudaGetSymbolAddress(&address, counter);
  cudaGetSymbolAddress((void**)&a, table);
  cudaGetSymbolSize(&bytes, table);
  cudaFuncAttributes attributes;
  cudaFuncGetAttributes(&attributes, kernel<float>);
  cudaFuncSetAttribute(kernel<float>, cudaFuncAttributeMaxDynamicSharedMemorySize, 4096);
  cudaFuncSetCacheConfig(kernel<float>, cudaFuncCachePreferL1);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel<float>, 128, 0);
  cudaOccupancyMaxPotentialBlockSize(&blocks, &size, kernel<float>, 0, 0);
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&blocks, &size, kernel<float>, [](int n) { return (size_t)n * 4; });
  int n = 3;
  void* arguments[] = {&a, &n};
  cudaLaunchKernel(kernel<float>, dim3(1), dim3(2), arguments);
  cudaLaunchKernel((void*)kernel<float>, dim3(1), dim3(2), arguments, 0, 0);
  cudaLaunchCooperativeKernel(kernel<float>, 1, 2, arguments);
  cudaLaunchConfig_t config = {};
  cudaLaunchKernelEx(&config, kernel<float>, a, 3);
  cudaEvent_t event;
  cudaEventCreate(&event);
  cudaEventCreate(&event, cudaEventDisableTiming);
  cudaStream_t stream = nullptr;
  kernel<<<1, 2, 0, stream>>>(a, 3);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
  const cudaExtent extent = make_cudaExtent(1, 2, 3);
  return format.x + (int)extent.width;
}
