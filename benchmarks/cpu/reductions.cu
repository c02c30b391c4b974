// Many numbers to few: sums by trees, by shuffles and in two passes; scans; histograms in shared memory.

#include "reductions.h"

#include "block_sum.h"
#include "suite.h"

namespace {

using bench::kBins;
constexpr int kThreads = 256;

/// Each block sums 512 elements.
__global__ void sum_tree(const float* x, float* total, int n) {
  int i = blockIdx.x * blockDim.x * 2 + threadIdx.x;
  float mine = i < n ? x[i] : 0;
  if (i + blockDim.x < n) mine += x[i + blockDim.x];
  const float sum = bench::block_sum(mine);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

__global__ void sum_shuffles(const float* x, float* total, int n) {
  __shared__ float warps[kThreads / 32];
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffffu, mine, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    mine = threadIdx.x < kThreads / 32 ? warps[threadIdx.x] : 0;
    for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffffu, mine, offset);
    if (threadIdx.x == 0) atomicAdd(total, mine);
  }
}

/// out[block] = the sum of what the block's threads see; run once over x, and by one block over the blocks' sums.
__global__ void sum_pass(const float* x, float* out, int n) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  const float sum = bench::block_sum(mine);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Scans each block's elements, by Hillis and Steele, and writes the blocks' sums.
__global__ void scan_blocks(const int* x, int* y, int* sums, int n) {
  __shared__ int values[kThreads];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    int before = threadIdx.x >= offset ? values[threadIdx.x - offset] : 0;
    __syncthreads();
    values[threadIdx.x] += before;
    __syncthreads();
  }
  if (i < n) y[i] = values[threadIdx.x];
  if (threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = values[threadIdx.x];
}

__global__ void add_sums(int* y, const int* sums, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (blockIdx.x > 0 && i < n) y[i] += sums[blockIdx.x - 1];
}

__global__ void histogram(const uint8_t* x, int* bins, int n) {
  __shared__ int mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&mine[x[i]], 1);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

constexpr const char* kOpenCl = R"cl(
#define THREADS 256
kernel void sum_tree(global const float* x, global float* totals, int n) {
  local float sums[THREADS];
  int t = get_local_id(0), threads = get_local_size(0), i = get_group_id(0) * threads * 2 + t;
  float mine = i < n ? x[i] : 0;
  if (i + threads < n) mine += x[i + threads];
  sums[t] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = threads / 2; width > 0; width /= 2) {
    if (t < width) sums[t] += sums[t + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) totals[get_group_id(0)] = sums[0];
}
kernel void sum_pass(global const float* x, global float* out, int n) {
  local float sums[THREADS];
  int t = get_local_id(0);
  float mine = 0;
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += x[i];
  sums[t] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (t < width) sums[t] += sums[t + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) out[get_group_id(0)] = sums[0];
}
kernel void scan_blocks(global const int* x, global int* y, global int* sums, int n) {
  local int values[THREADS];
  int t = get_local_id(0), i = get_global_id(0), threads = get_local_size(0);
  values[t] = i < n ? x[i] : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int offset = 1; offset < threads; offset *= 2) {
    int before = t >= offset ? values[t - offset] : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    values[t] += before;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (i < n) y[i] = values[t];
  if (t == threads - 1) sums[get_group_id(0)] = values[t];
}
kernel void add_sums(global int* y, global const int* sums, int n) {
  int i = get_global_id(0), group = get_group_id(0);
  if (group > 0 && i < n) y[i] += sums[group - 1];
}
kernel void histogram(global const uchar* x, global int* bins, int n) {
  local int mine[THREADS];
  int t = get_local_id(0);
  mine[t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) atomic_inc(&mine[x[i]]);
  barrier(CLK_LOCAL_MEM_FENCE);
  atomic_add(&bins[t], mine[t]);
}
)cl";

}  // namespace

namespace bench {

void run_sums(Suite& suite) {
  const int n = 1 << 24, grid = 512, tree_grid = n / kThreads / 2;
  const size_t threads = kThreads;
  const Work work = {.bytes = 4.0 * n};
  Array<float> x(n, spread(0, 1)), total(1), parts(tree_grid);
  const auto clear = [&] { total[0] = 0; };
  const auto loops = [&](const Reductions& loops) { total[0] = loops.sum(x, n); };
  const Output sum = near(total, 1e-3);  // running sums of many floats
  const auto reads = limit_moves({{x}, nullptr, x.size()});

  suite.run(Case<Reductions>{.name = "sum/tree",
                             .trait = "barriers",
                             .work = work,
                             .outputs = {sum},
                             .prepare = clear,
                             .ours = [&] { sum_tree<<<tree_grid, kThreads>>>(x, total, n); },
                             .loops = loops,
                             .opencl =
                                 [&](OpenCl& cl) {
                                   cl.launch("sum_tree", tree_grid * threads, threads, x, parts, n);
                                   cl.launch("sum_pass", threads, threads, parts, total, tree_grid);
                                 },
                             .limits = reads});
  suite.run(Case<Reductions>{.name = "sum/shuffles",
                             .trait = "shuffles",
                             .work = work,
                             .outputs = {sum},
                             .prepare = clear,
                             .ours = [&] { sum_shuffles<<<grid, kThreads>>>(x, total, n); },
                             .loops = loops,
                             .limits = reads});
  suite.run(Case<Reductions>{.name = "sum/two-pass",
                             .trait = "barriers",
                             .work = work,
                             .outputs = {sum},
                             .prepare = clear,
                             .ours =
                                 [&] {
                                   sum_pass<<<grid, kThreads>>>(x, parts, n);
                                   sum_pass<<<1, kThreads>>>(parts, total, grid);
                                 },
                             .loops = loops,
                             .opencl =
                                 [&](OpenCl& cl) {
                                   cl.launch("sum_pass", grid * threads, threads, x, parts, n);
                                   cl.launch("sum_pass", threads, threads, parts, total, grid);
                                 },
                             .limits = reads});
}

void run_reductions(Suite& suite) {
  suite.use_opencl(kOpenCl);
  run_sums(suite);

  const int n = 1 << 24, blocks = n / kThreads, groups = blocks / kThreads;
  const size_t threads = kThreads;
  Array<int> x(n, [](size_t i) { return hash(i) % 64; }), y(n), sums(blocks), scanned(blocks), top(groups),
      top_scanned(groups), rest(1);
  suite.run(Case<Reductions>{.name = "scan",
                             .trait = "barriers",
                             .work = {.bytes = 8.0 * n},
                             .outputs = {exact(y)},
                             .ours =
                                 [&] {
                                   scan_blocks<<<blocks, kThreads>>>(x, y, sums, n);
                                   scan_blocks<<<groups, kThreads>>>(sums, scanned, top, blocks);
                                   scan_blocks<<<1, kThreads>>>(top, top_scanned, rest, groups);
                                   add_sums<<<groups, kThreads>>>(scanned, top_scanned, blocks);
                                   add_sums<<<blocks, kThreads>>>(y, scanned, n);
                                 },
                             .loops = [&](const Reductions& loops) { loops.scan(x, y, n); },
                             .opencl =
                                 [&](OpenCl& cl) {
                                   cl.launch("scan_blocks", n, threads, x, y, sums, n);
                                   cl.launch("scan_blocks", blocks, threads, sums, scanned, top, blocks);
                                   cl.launch("scan_blocks", threads, threads, top, top_scanned, rest, groups);
                                   cl.launch("add_sums", blocks, threads, scanned, top_scanned, blocks);
                                   cl.launch("add_sums", n, threads, y, scanned, n);
                                 }});

  const int grid = 256;
  Array<uint8_t> bytes(n, [](size_t i) { return hash(i) & hash(i + 99); });  // uneven, as data are
  Array<int> bins(kBins);
  suite.run(
      Case<Reductions>{.name = "histogram",
                       .trait = "barriers",
                       .work = {.bytes = 1.0 * n},
                       .outputs = {exact(bins)},
                       .prepare = [&] { std::memset(bins, 0, bins.bytes()); },
                       .ours = [&] { histogram<<<grid, kThreads>>>(bytes, bins, n); },
                       .loops = [&](const Reductions& loops) { loops.histogram(bytes, bins, n); },
                       .opencl = [&](OpenCl& cl) { cl.launch("histogram", grid * threads, threads, bytes, bins, n); }});
}

}  // namespace bench
