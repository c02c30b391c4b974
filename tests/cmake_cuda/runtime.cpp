#include <cuda_runtime.h>

int main() {
  int count = 0;
  char text[] = "device memory", copy[sizeof text] = {};
  void* device;
  if (cudaGetDeviceCount(&count) != cudaSuccess || count < 1) return 1;
  if (cudaMalloc(&device, sizeof text) != cudaSuccess) return 2;
  cudaMemcpy(device, text, sizeof text, cudaMemcpyHostToDevice);
  cudaMemcpy(copy, device, sizeof text, cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < sizeof text; ++i)
    if (copy[i] != text[i]) return 3;
  return cudaFree(device) == cudaSuccess ? 0 : 4;
}
