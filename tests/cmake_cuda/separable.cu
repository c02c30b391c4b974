#include "device_functions.cuh"

int run_call_twice(int* values, int count);

__global__ void call_once(int* value) {
  *value = twice(*value);
}

int main() {
  int values[] = {1, 2, 3, 4}, *device, four = 4;
  if (run_call_twice(values, 4) != 4) return 1;
  for (int i = 0; i < 4; ++i)
    if (values[i] != 2 * (i + 1) + 1) return 2;
  cudaMalloc(&device, sizeof four);
  cudaMemcpy(device, &four, sizeof four, cudaMemcpyHostToDevice);
  call_once<<<1, 1>>>(device);
  cudaMemcpy(&four, device, sizeof four, cudaMemcpyDeviceToHost);
  if (four != 8) return 3;
  return run_call_twice(values, 4) == 9 ? 0 : 4;  // 4 + 1 + 4: one variable for all files
}
