// CUB of a CCCL that the user brings (cmake -DCUPOLA_CCCL=FOLDER): a warp's, a block's and a device's algorithms.
// Oracle: the C++ standard library's algorithms on the host.

#include <algorithm>
#include <cub/cub.cuh>
#include <numeric>

#include "../kernels/check.h"

static std::vector<int> numbers(int count) {
  std::vector<int> all;
  for (unsigned i = 0, seed = 1; i < static_cast<unsigned>(count); ++i)
    seed = seed * 1664525 + 1013904223, all.push_back(static_cast<int>(seed >> 12) - (1 << 19));
  return all;
}

__global__ void block_kernel(const int* in, int* sum, int* scan, int* warps) {
  using Reduce = cub::BlockReduce<int, 128>;
  using Scan = cub::BlockScan<int, 128>;
  using Warp = cub::WarpReduce<int>;
  __shared__ typename Reduce::TempStorage reduce_memory;
  __shared__ typename Scan::TempStorage scan_memory;
  __shared__ typename Warp::TempStorage warp_memory[4];
  const int value = in[threadIdx.x], total = Reduce(reduce_memory).Sum(value);
  if (threadIdx.x == 0) *sum = total;
  Scan(scan_memory).ExclusiveSum(value, scan[threadIdx.x]);
  const int part = Warp(warp_memory[threadIdx.x / 32]).Reduce(value, [](int a, int b) { return a > b ? a : b; });
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = part;
}
CASE(of_a_block) {
  const std::vector<int> all = numbers(128);
  check::Managed<int> in(128), sum(1), scan(128), warps(4);
  std::copy(all.begin(), all.end(), static_cast<int*>(in));
  block_kernel<<<1, 128>>>(in, sum, scan, warps);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(sum[0], std::accumulate(all.begin(), all.end(), 0));
  for (int i = 0; i < 128; ++i) EXPECT_EQUAL_AT(i, scan[i], std::accumulate(all.begin(), all.begin() + i, 0));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQUAL_AT(i, warps[i], *std::max_element(all.begin() + 32 * i, all.begin() + 32 * i + 32));
}

/// Calls a device algorithm twice, as it wants: for the size of its scratch memory, and to run.
template <typename Algorithm>
static void run(Algorithm algorithm) {
  size_t bytes = 0;
  CUDA_OK(algorithm(nullptr, bytes));
  void* scratch = nullptr;
  CUDA_OK(cudaMalloc(&scratch, bytes));
  CUDA_OK(algorithm(scratch, bytes));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaFree(scratch));
}

CASE(of_the_device) {
  for (const int count : {1, 1000, 20000}) {
    std::vector<int> all = numbers(count);
    check::Managed<int> in(count), out(count);
    std::copy(all.begin(), all.end(), static_cast<int*>(in));
    int *from = in, *to = out;
    run([&](void* scratch, size_t& bytes) { return cub::DeviceReduce::Sum(scratch, bytes, from, to, count); });
    EXPECT_EQUAL_AT(count, out[0], std::accumulate(all.begin(), all.end(), 0));
    run([&](void* scratch, size_t& bytes) { return cub::DeviceScan::InclusiveSum(scratch, bytes, from, to, count); });
    int sum = 0;
    for (int i = 0; i < count; ++i) EXPECT_EQUAL_AT(i, out[i], sum += all[i]);
    run([&](void* scratch, size_t& bytes) { return cub::DeviceRadixSort::SortKeys(scratch, bytes, from, to, count); });
    std::sort(all.begin(), all.end());
    for (int i = 0; i < count; ++i) EXPECT_EQUAL_AT(i, out[i], all[i]);
  }
}

CHECK_MAIN()
