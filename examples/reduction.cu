// Sums an array twice: by a tree in shared memory, and by shuffles within warps.

#include <vector>

#include "example.h"

constexpr int kBlock = 256;

__global__ void sum_by_tree(const int* values, long long* total, int n) {
  __shared__ long long partial[kBlock];
  long long mine = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) mine += values[i];
  partial[threadIdx.x] = mine;
  __syncthreads();
  for (int width = kBlock / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) partial[threadIdx.x] += partial[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(partial[0]));
}

__device__ long long warp_sum(long long value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  return value;
}

__global__ void sum_by_shuffles(const int* values, long long* total, int n) {
  __shared__ long long partial[kBlock / 32];
  long long mine = 0;
  for (int i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) mine += values[i];
  mine = warp_sum(mine);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = warp_sum(threadIdx.x < kBlock / 32 ? partial[threadIdx.x] : 0);
    if (threadIdx.x == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(mine));
  }
}

int main() {
  const int n = 1 << 20;
  std::vector<int> values(n);
  long long expected = 0;
  for (int i = 0; i < n; ++i) {
    values[i] = static_cast<int>((i * 2654435761u) >> 4) - (1 << 27);
    expected += values[i];
  }
  int* device_values;
  long long* totals;
  CHECK_CUDA(cudaMalloc(&device_values, n * sizeof(int)));
  CHECK_CUDA(cudaMallocManaged(&totals, 2 * sizeof(long long)));
  CHECK_CUDA(cudaMemcpy(device_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(totals, 0, 2 * sizeof(long long)));
  sum_by_tree<<<64, kBlock>>>(device_values, &totals[0], n);
  sum_by_shuffles<<<64, kBlock>>>(device_values, &totals[1], n);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("tree %lld, shuffles %lld, host %lld\n", totals[0], totals[1], expected);
  bool right = totals[0] == expected && totals[1] == expected;
  CHECK_CUDA(cudaFree(device_values));
  CHECK_CUDA(cudaFree(totals));
  return verdict("sum of 1,048,576 integers", right);
}
