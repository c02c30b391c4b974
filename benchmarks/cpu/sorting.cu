// Sorting: a bitonic network, in shared memory where its steps are short, and a radix sort, least digit first.

#include "sorting.h"

#include "suite.h"

namespace {

using bench::kDigits;
constexpr int kThreads = 256, kChunk = 2 * kThreads;  // a block's keys in shared memory
constexpr int kTile = 4096;                           // a block's keys in a pass of the radix sort
constexpr int kWarps = kThreads / 32;

__device__ void order(unsigned& a, unsigned& b, bool up) {
  if ((a > b) == up) {
    unsigned kept = a;
    a = b;
    b = kept;
  }
}

/// Steps of strides kThreads and less, for sequences of length `from` to `to`.
__global__ void bitonic_shared(unsigned* keys, int from, int to) {
  __shared__ unsigned mine[kChunk];
  int base = blockIdx.x * kChunk;
  mine[threadIdx.x] = keys[base + threadIdx.x];
  mine[threadIdx.x + kThreads] = keys[base + threadIdx.x + kThreads];
  for (int k = from; k <= to; k *= 2)
    for (int j = min(k / 2, kThreads); j > 0; j /= 2) {
      __syncthreads();
      int i = 2 * threadIdx.x - (threadIdx.x & (j - 1));
      order(mine[i], mine[i + j], ((base + i) & k) == 0);
    }
  __syncthreads();
  keys[base + threadIdx.x] = mine[threadIdx.x];
  keys[base + threadIdx.x + kThreads] = mine[threadIdx.x + kThreads];
}

__global__ void bitonic_step(unsigned* keys, int k, int j) {
  int thread = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * thread - (thread & (j - 1));
  order(keys[i], keys[i + j], (i & k) == 0);
}

/// counts[digit][block] = how many of the block's keys have the digit.
__global__ void count_digits(const unsigned* keys, int* counts, int shift) {
  __shared__ int mine[kDigits];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < kTile; i += kThreads) atomicAdd(&mine[keys[blockIdx.x * kTile + i] >> shift & 255], 1);
  __syncthreads();
  counts[threadIdx.x * gridDim.x + blockIdx.x] = mine[threadIdx.x];
}

/// counts becomes the number of keys before: one block, a digit for each thread.
__global__ void place_digits(int* counts, int blocks) {
  __shared__ int totals[kDigits];
  int* row = counts + threadIdx.x * blocks;
  int total = 0;
  for (int b = 0; b < blocks; ++b) total += row[b];
  totals[threadIdx.x] = total;
  __syncthreads();
  for (int offset = 1; offset < kDigits; offset *= 2) {
    int before = threadIdx.x >= offset ? totals[threadIdx.x - offset] : 0;
    __syncthreads();
    totals[threadIdx.x] += before;
    __syncthreads();
  }
  int running = totals[threadIdx.x] - total;
  for (int b = 0; b < blocks; ++b) {
    int count = row[b];
    row[b] = running;
    running += count;
  }
}

/// Moves the block's keys, 256 at a time and in order: a key's rank among equal digits of its warp is counted by votes.
__global__ void move_keys(const unsigned* keys, unsigned* out, const int* places, int shift) {
  __shared__ int next[kDigits], counts[kWarps][kDigits];
  int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  next[threadIdx.x] = places[threadIdx.x * gridDim.x + blockIdx.x];
  for (int w = 0; w < kWarps; ++w) counts[w][threadIdx.x] = 0;
  __syncthreads();
  for (int round = 0; round < kTile; round += kThreads) {
    unsigned key = keys[blockIdx.x * kTile + round + threadIdx.x], digit = key >> shift & 255, peers = 0xffffffffu;
    for (int bit = 0; bit < 8; ++bit) {
      unsigned vote = __ballot_sync(0xffffffffu, digit >> bit & 1);
      peers &= digit >> bit & 1 ? vote : ~vote;
    }
    int rank = __popc(peers & ((1u << lane) - 1));
    if (rank == 0) counts[warp][digit] = __popc(peers);
    __syncthreads();
    int running = next[threadIdx.x];  // this thread's digit, over the warps
    for (int w = 0; w < kWarps; ++w) {
      int count = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = running;
      running += count;
    }
    next[threadIdx.x] = running;
    __syncthreads();
    out[counts[warp][digit] + rank] = key;
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) counts[w][threadIdx.x] = 0;
    __syncthreads();
  }
}

constexpr const char* kOpenCl = R"cl(
#define THREADS 256
kernel void bitonic_shared(global uint* keys, int from, int to) {
  local uint mine[2 * THREADS];
  int t = get_local_id(0), base = get_group_id(0) * 2 * THREADS;
  mine[t] = keys[base + t];
  mine[t + THREADS] = keys[base + t + THREADS];
  for (int k = from; k <= to; k *= 2)
    for (int j = min(k / 2, THREADS); j > 0; j /= 2) {
      barrier(CLK_LOCAL_MEM_FENCE);
      int i = 2 * t - (t & (j - 1));
      uint a = mine[i], b = mine[i + j];
      if ((a > b) == (((base + i) & k) == 0)) mine[i] = b, mine[i + j] = a;
    }
  barrier(CLK_LOCAL_MEM_FENCE);
  keys[base + t] = mine[t];
  keys[base + t + THREADS] = mine[t + THREADS];
}
kernel void bitonic_step(global uint* keys, int k, int j) {
  int t = get_global_id(0), i = 2 * t - (t & (j - 1));
  uint a = keys[i], b = keys[i + j];
  if ((a > b) == ((i & k) == 0)) keys[i] = b, keys[i + j] = a;
}
)cl";

/// The steps of the network: within(from, to) for what a block does in its memory, across(k, j) for one longer step.
template <typename Within, typename Across>
void bitonic_network(int n, Within within, Across across) {
  within(2, kChunk);
  for (int k = 2 * kChunk; k <= n; k *= 2) {
    for (int j = k / 2; j >= kChunk; j /= 2) across(k, j);
    within(k, k);
  }
}

}  // namespace

namespace bench {

void run_sorting(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const int n = 1 << 19;
  Array<uint32_t> unsorted(4 * n, hash), keys(n);
  suite.run(Case<Sorting>{
      .name = "sort/bitonic",
      .trait = "barriers",
      .work = {.bytes = 8.0 * n},
      .outputs = {exact(keys)},
      .prepare = [&] { std::memcpy(keys, unsorted, keys.bytes()); },
      .ours =
          [&] {
            bitonic_network(
                n, [&](int from, int to) { bitonic_shared<<<n / kChunk, kThreads>>>(keys, from, to); },
                [&](int k, int j) { bitonic_step<<<n / kChunk, kThreads>>>(keys, k, j); });
          },
      .loops = [&](const Sorting& loops) { loops.bitonic(keys, n); },
      .opencl =
          [&](OpenCl& cl) {
            bitonic_network(
                n, [&](int from, int to) { cl.launch("bitonic_shared", n / 2, kThreads, keys, from, to); },
                [&](int k, int j) { cl.launch("bitonic_step", n / 2, kThreads, keys, k, j); });
          }});

  const int many = 4 * n, blocks = many / kTile;
  Array<uint32_t> sorted(many), other(many);
  Array<int> counts(kDigits * blocks);
  suite.run(Case<Sorting>{.name = "sort/radix",
                          .trait = "shuffles",
                          .work = {.bytes = 4 * 12.0 * many},  // four passes read keys twice and write them
                          .outputs = {exact(sorted)},
                          .prepare = [&] { std::memcpy(sorted, unsorted, sorted.bytes()); },
                          .ours =
                              [&] {
                                uint32_t *from = sorted, *to = other;
                                for (int shift = 0; shift < 32; shift += 8) {
                                  count_digits<<<blocks, kThreads>>>(from, counts, shift);
                                  place_digits<<<1, kDigits>>>(counts, blocks);
                                  move_keys<<<blocks, kThreads>>>(from, to, counts, shift);
                                  std::swap(from, to);
                                }
                              },
                          .loops = [&](const Sorting& loops) { loops.radix(sorted, other, many); }});
}

}  // namespace bench
