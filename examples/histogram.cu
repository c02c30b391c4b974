// Counts byte values: each block counts into shared memory with atomics, then adds its counts to the whole.

#include <vector>

#include "example.h"

__global__ void count(const unsigned char* bytes, unsigned* histogram, int n) {
  __shared__ unsigned mine[256];
  for (int i = threadIdx.x; i < 256; i += blockDim.x) mine[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&mine[bytes[i]], 1u);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += blockDim.x)
    if (mine[i]) atomicAdd(&histogram[i], mine[i]);
}

int main() {
  const int n = 1 << 22;
  std::vector<unsigned char> bytes(n);
  std::vector<unsigned> expected(256), histogram(256);
  unsigned state = 12345;
  for (unsigned char& byte : bytes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<unsigned char>((state >> 24) & (state >> 16));
    ++expected[byte];
  }
  unsigned char* device_bytes;
  unsigned* device_histogram;
  CHECK_CUDA(cudaMalloc(&device_bytes, n));
  CHECK_CUDA(cudaMalloc(&device_histogram, 256 * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(device_bytes, bytes.data(), n, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(device_histogram, 0, 256 * sizeof(unsigned)));
  count<<<32, 256>>>(device_bytes, device_histogram, n);
  CHECK_CUDA(cudaMemcpy(histogram.data(), device_histogram, 256 * sizeof(unsigned), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device_bytes));
  CHECK_CUDA(cudaFree(device_histogram));
  return verdict("histogram of 4,194,304 bytes", histogram == expected);
}
