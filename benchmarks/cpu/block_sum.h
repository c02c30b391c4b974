#pragma once

namespace bench {

constexpr int kMostSummed = 256;

/// The sum of what the block's threads bring, for thread 0: a tree in shared memory. Blocks have a power of two of
/// threads, at most kMostSummed.
__device__ inline float block_sum(float mine) {
  __shared__ float sums[kMostSummed];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int width = blockDim.x / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) sums[threadIdx.x] += sums[threadIdx.x + width];
    __syncthreads();
  }
  return sums[0];
}

}  // namespace bench
