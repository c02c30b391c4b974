#include "device_functions.cuh"

static __device__ int offset = 1;

__global__ void call_twice(int* values) {
  values[threadIdx.x] = twice(values[threadIdx.x]) + offset;
}

/// values[i] = 2 * values[i] + 1; returns how often the device function ran so far, or -1.
int run_call_twice(int* values, int count) {
  int *device, so_far = -1;
  cudaMalloc(&device, count * sizeof(int));
  cudaMemcpy(device, values, count * sizeof(int), cudaMemcpyHostToDevice);
  call_twice<<<1, count>>>(device);
  cudaMemcpy(values, device, count * sizeof(int), cudaMemcpyDeviceToHost);
  if (cudaMemcpyFromSymbol(&so_far, calls, sizeof so_far) != cudaSuccess) return -1;
  cudaFree(device);
  return so_far;
}
