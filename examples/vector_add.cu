// Adds two vectors: the smallest whole CUDA program.

#include <vector>

#include "example.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  const int n = 1 << 20;
  std::vector<float> a(n), b(n), c(n);
  for (int i = 0; i < n; ++i) {
    a[i] = 0.5f * i;
    b[i] = 1.0f / (i + 1);
  }
  float *device_a, *device_b, *device_c;
  CHECK_CUDA(cudaMalloc(&device_a, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&device_b, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&device_c, n * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(device_a, a.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(device_b, b.data(), n * sizeof(float), cudaMemcpyHostToDevice));

  add<<<(n + 255) / 256, 256>>>(device_a, device_b, device_c, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(c.data(), device_c, n * sizeof(float), cudaMemcpyDeviceToHost));

  bool right = true;
  for (int i = 0; i < n; ++i) right &= c[i] == a[i] + b[i];
  CHECK_CUDA(cudaFree(device_a));
  CHECK_CUDA(cudaFree(device_b));
  CHECK_CUDA(cudaFree(device_c));
  return verdict("vector add of 1,048,576 floats", right);
}
