// Cooperative groups: the block, tiles of it, the lanes at one place, the grid of a cooperative launch.
// Oracle: "CUDA C++ Programming Guide", Cooperative Groups; what each thread must see is computed on the host, in the
// order of rank.

#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <array>
#include <vector>

#include "check.h"

namespace cg = cooperative_groups;

__global__ void block_kernel(unsigned* out) {
  __shared__ unsigned values[64];
  cg::thread_block block = cg::this_thread_block();
  const unsigned rank = block.thread_rank();
  values[rank] = rank * 3;
  block.sync();
  out[rank] = values[block.size() - 1 - rank];
}

CASE(block) {
  check::Managed<unsigned> out(64);
  block_kernel<<<1, dim3(8, 4, 2)>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], (63 - i) * 3);
}

template <unsigned Size>
__global__ void tile_kernel(unsigned* out) {
  auto tile = cg::tiled_partition<Size>(cg::this_thread_block());
  const unsigned me = threadIdx.x;
  unsigned* at = out + me * 7;
  at[0] = tile.thread_rank();
  at[1] = tile.meta_group_rank();
  at[2] = tile.shfl(me, 1);
  at[3] = tile.shfl_down(me, 1);
  at[4] = tile.shfl_xor(me, Size / 2);
  at[5] = tile.ballot(me % 3 == 0);
  at[6] = static_cast<unsigned>(tile.any(me == 5)) * 2 + static_cast<unsigned>(tile.all(me < 32));
}

template <unsigned Size>
static void check_tiles() {
  check::Managed<unsigned> out(64 * 7);
  tile_kernel<Size><<<1, 64>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < 64; ++me) {
    const unsigned rank = me % Size, start = me - rank;
    unsigned ballot = 0, any = 0, all = 1;
    for (unsigned i = 0; i < Size; ++i) {
      if ((start + i) % 3 == 0) ballot |= 1u << i;
      any |= start + i == 5;
      all &= start + i < 32;
    }
    const unsigned expected[] = {
        rank, me / Size, start + 1, rank + 1 < Size ? me + 1 : me, start + (rank ^ (Size / 2)), ballot, any * 2 + all};
    for (unsigned i = 0; i < 7; ++i) EXPECT_EQUAL_AT(me * 7 + i, out[me * 7 + i], expected[i]);
  }
}

CASE(tiles_of_every_size) {
  check_tiles<32>();
  check_tiles<16>();
  check_tiles<8>();
  check_tiles<4>();
  check_tiles<2>();
}

__global__ void coalesced_kernel(unsigned* out) {
  out[threadIdx.x] = 0;
  if (threadIdx.x % 4 == 1) {
    cg::coalesced_group group = cg::coalesced_threads();
    out[threadIdx.x] = group.size() * 100 + group.thread_rank();
  }
}

CASE(lanes_at_one_place) {
  check::Managed<unsigned> out(32);
  coalesced_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, out[i], i % 4 == 1 ? 800 + i / 4 : 0);
}

__global__ void grid_kernel(unsigned* values, unsigned* out) {
  cg::grid_group grid = cg::this_grid();
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x, count = static_cast<unsigned>(grid.size());
  values[me] = me + 1;
  grid.sync();
  out[me] = values[count - 1 - me];
  grid.sync();
  if (me == 0) out[0] = out[count - 1] * 1000;
}

CASE(grid) {
  check::Managed<unsigned> values(128), out(128);
  unsigned *in = values, *to = out;
  void* arguments[] = {&in, &to};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(grid_kernel), dim3(2), dim3(64), arguments, 0,
                                      nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 1000u);
  for (unsigned i = 1; i < 128; ++i) EXPECT_EQUAL_AT(i, out[i], 128 - i);
}

/// Each round adds what the neighbour to the left in the grid had in the round before, with the block's shared memory
/// and a local array as the only places where a thread keeps what it has.
__global__ void rounds_kernel(unsigned* shown, unsigned* out, int rounds) {
  __shared__ unsigned kept[96];
  unsigned history[8] = {};
  cg::grid_group grid = cg::this_grid();
  const unsigned me = static_cast<unsigned>(grid.thread_rank()), all = static_cast<unsigned>(grid.size());
  kept[threadIdx.x] = me;
  if (threadIdx.x == 0) kept[95] = 0;
  for (int round = 0; round < rounds; ++round) {
    shown[me] = kept[threadIdx.x];
    grid.sync();
    const unsigned left = shown[(me + all - 1) % all];
    if (me % 3 == 0)
      grid.sync();  // the same barrier for all, from two places
    else
      grid.sync();
    history[(me + round) % 8] += left;
    kept[threadIdx.x] += left;
    __syncthreads();
    if (threadIdx.x == 0) kept[95] += kept[blockDim.x - 1] & 1;
    __syncthreads();
  }
  unsigned sum = kept[threadIdx.x] + kept[95];
  for (unsigned each : history) sum = sum * 3 + each;
  out[me] = sum;
}

CASE(grid_in_a_loop) {
  constexpr unsigned kBlocks = 3, kThreads = 50, kAll = kBlocks * kThreads;
  check::Managed<unsigned> shown(kAll), out(kAll);
  unsigned *between = shown, *to = out;
  int rounds = 11;
  void* arguments[] = {&between, &to, &rounds};
  CUDA_OK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(rounds_kernel), dim3(kBlocks), dim3(kThreads),
                                      arguments, 0, nullptr));
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<unsigned> kept(kAll), odd(kBlocks);
  std::vector<std::array<unsigned, 8>> history(kAll);
  for (unsigned i = 0; i < kAll; ++i) kept[i] = i;
  for (int round = 0; round < rounds; ++round) {
    const std::vector<unsigned> before = kept;
    for (unsigned i = 0; i < kAll; ++i) {
      const unsigned left = before[(i + kAll - 1) % kAll];
      history[i][(i + round) % 8] += left;
      kept[i] += left;
    }
    for (unsigned b = 0; b < kBlocks; ++b) odd[b] += kept[b * kThreads + kThreads - 1] & 1;
  }
  for (unsigned i = 0; i < kAll; ++i) {
    unsigned sum = kept[i] + odd[i / kThreads];
    for (unsigned each : history[i]) sum = sum * 3 + each;
    EXPECT_EQUAL_AT(i, out[i], sum);
  }
}

// -- tiles of more than a warp --

/// 2 x 2 matrices over unsigned: a product that does not commute, so that the order of members shows.
struct Matrix {
  unsigned m[4];
};
struct Product {
  __host__ __device__ Matrix operator()(const Matrix& a, const Matrix& b) const {
    return {{a.m[0] * b.m[0] + a.m[1] * b.m[2], a.m[0] * b.m[1] + a.m[1] * b.m[3], a.m[2] * b.m[0] + a.m[3] * b.m[2],
             a.m[2] * b.m[1] + a.m[3] * b.m[3]}};
  }
};
__host__ __device__ static Matrix matrix_of(unsigned i) {
  return {{i + 1, 1, i * 3, 7}};
}
static bool operator==(const Matrix& a, const Matrix& b) {
  return std::memcmp(a.m, b.m, sizeof a.m) == 0;
}

struct WideResult {
  unsigned rank, place, siblings, sum, any, all, moved, shown;
  Matrix product, scanned, below;
};

template <unsigned Size, unsigned Within>
__global__ void wide_kernel(WideResult* out) {
  __shared__ cg::block_tile_memory<1024> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto outer = cg::tiled_partition<Within>(block);
  const auto tile = cg::tiled_partition<Size>(outer);
  const unsigned me = threadIdx.x;
  WideResult& r = out[me];
  r.rank = tile.thread_rank();
  r.place = tile.meta_group_rank();
  r.siblings = tile.meta_group_size();
  r.sum = cg::reduce(tile, me, cg::plus<unsigned>());
  r.any = tile.any(me == Size + 3);
  r.all = tile.all(me >= Size);
  r.moved = tile.shfl(me, (tile.thread_rank() * 5 + 1) % Size);
  r.shown = cg::invoke_one_broadcast(tile, [&] { return tile.thread_rank() + tile.meta_group_rank() * 1000; });
  r.product = cg::reduce(tile, matrix_of(me), Product());
  r.scanned = cg::inclusive_scan(tile, matrix_of(me), Product());
  r.below = cg::exclusive_scan(tile, matrix_of(me), Product());
}

template <unsigned Size, unsigned Within>
static void check_wide(unsigned threads) {
  check::Managed<WideResult> out(threads);
  wide_kernel<Size, Within><<<1, threads>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < threads; ++me) {
    const unsigned rank = me % Size, start = me - rank;
    unsigned sum = 0;
    Matrix product = matrix_of(start), scanned = product, below = {};
    for (unsigned i = 0; i < Size; ++i) {
      sum += start + i;
      if (i == 0) continue;
      if (i <= rank) below = scanned, scanned = Product()(scanned, matrix_of(start + i));
      product = Product()(product, matrix_of(start + i));
    }
    EXPECT_EQUAL_AT(me, out[me].rank, rank);
    EXPECT_EQUAL_AT(me, out[me].place, me % Within / Size);
    EXPECT_EQUAL_AT(me, out[me].siblings, Within / Size);
    EXPECT_EQUAL_AT(me, out[me].sum, sum);
    EXPECT_EQUAL_AT(me, out[me].any, start == Size);
    EXPECT_EQUAL_AT(me, out[me].all, start >= Size);
    EXPECT_EQUAL_AT(me, out[me].moved, start + (rank * 5 + 1) % Size);
    EXPECT_EQUAL_AT(me, out[me].shown, me % Within / Size * 1000);
    EXPECT(out[me].product == product);
    EXPECT(out[me].scanned == scanned);
    EXPECT(out[me].below == below);
  }
}

CASE(tiles_of_more_than_a_warp) {
  check_wide<64, 64>(192);
  check_wide<64, 256>(512);
  check_wide<128, 512>(512);
  check_wide<256, 256>(256);
  check_wide<512, 1024>(1024);
  check_wide<1024, 1024>(1024);
  check_wide<32, 64>(128);
}

/// Each turn swaps mirrored threads' values and adds 1. The block's values are in shared memory; returns the mirror's.
template <typename Tile>
__device__ unsigned swap_with_mirror(const Tile& tile, unsigned* values, unsigned mirror, unsigned turns) {
  const unsigned me = threadIdx.x;
  values[me] = me;
  for (unsigned turn = 0; turn < turns; ++turn) {
    tile.sync();
    const unsigned next = values[mirror] + 1;
    tile.sync();
    values[me] = next;
  }
  cg::thread_group any_kind = tile;
  any_kind.sync();
  return values[mirror];
}

// Tiles wait for themselves alone: tile i synchronises i + 1 times.
__global__ void apart_kernel(unsigned* out) {
  __shared__ unsigned values[512];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const unsigned me = threadIdx.x, mirror = me - tile.thread_rank() + 63 - tile.thread_rank();
  const unsigned seen = swap_with_mirror(tile, values, mirror, tile.meta_group_rank() + 1);
#ifdef __CUPOLA__  // NVIDIA's tiles of several warps become no group of any kind
  const cg::thread_group any_kind = tile;
#else
  const auto& any_kind = tile;
#endif
  out[me] = seen + any_kind.size() * 10000 + any_kind.thread_rank() * 1000000;
}

CASE(wide_tiles_wait_apart) {
  check::Managed<unsigned> out(512);
  apart_kernel<<<1, 512>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < 512; ++me) {
    const unsigned rank = me % 64, mirror = me - rank + 63 - rank, turns = me / 64 + 1;
    EXPECT_EQUAL_AT(me, out[me], (turns % 2 ? me : mirror) + turns + 640000 + rank * 1000000);
  }
}

// 96 threads: the second tile of 64 has one warp.
__global__ void short_kernel(unsigned* out) {
  __shared__ unsigned values[96];
  const auto tile = cg::tiled_partition<64>(cg::this_thread_block());
  const unsigned me = threadIdx.x, members = me < 64 ? 64 : 32;
  const unsigned mirror = me - tile.thread_rank() + members - 1 - tile.thread_rank();
  out[me * 4] = swap_with_mirror(tile, values, mirror, 3);
  out[me * 4 + 1] = cg::reduce(tile, me, cg::plus<unsigned>());
  out[me * 4 + 2] = tile.all(me >= 64);
  out[me * 4 + 3] = cg::inclusive_scan(tile, me);
}

CASE(the_last_wide_tile_waits_for_the_warps_that_there_are) {
  check::Managed<unsigned> out(96 * 4);
  short_kernel<<<1, 96>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < 96; ++me) {
    const unsigned first = me / 64 * 64, end = first == 0 ? 64 : 96;
    unsigned sum = 0, so_far = 0;
    for (unsigned i = first; i < end; ++i) sum += i, so_far += i <= me ? i : 0;
    const unsigned expected[] = {me + 3, sum, me >= 64, so_far};  // three turns: mirrored, and back by the last look
    for (unsigned i = 0; i < 4; ++i) EXPECT_EQUAL_AT(me * 4 + i, out[me * 4 + i], expected[i]);
  }
}

// -- reduce and scan --

struct Reductions {
  int sum, least, greatest, all, any, odd, coalesced;
  double real;
  int inclusive, exclusive, greatest_so_far;
};

__global__ void reductions_kernel(const int* in, Reductions* out) {
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int value = in[threadIdx.x];
  Reductions& r = out[threadIdx.x];
  r.sum = cg::reduce(tile, value, cg::plus<int>());
  r.least = cg::reduce(tile, value, cg::less<int>());
  r.greatest = cg::reduce(tile, value, cg::greater<int>());
  r.all = cg::reduce(tile, value, cg::bit_and<int>());
  r.any = cg::reduce(tile, value, cg::bit_or<int>());
  r.odd = cg::reduce(tile, value, cg::bit_xor<int>());
  r.real = cg::reduce(tile, value * 0.5, cg::plus<double>());
  r.inclusive = cg::inclusive_scan(tile, value);
  r.exclusive = cg::exclusive_scan(tile, value, cg::plus<int>());
  r.greatest_so_far = cg::inclusive_scan(tile, value, [](int a, int b) { return a > b ? a : b; });
  r.coalesced = 0;
  if (value % 3) {
    const cg::coalesced_group active = cg::coalesced_threads();
    const int last = cg::reduce(active, value, [](int, int b) { return b; });
    r.coalesced = last * 100 + static_cast<int>(active.num_threads());
  }
}

CASE(reductions_and_scans) {
  check::Managed<int> in(64);
  check::Managed<Reductions> out(64);
  unsigned seed = 1;
  for (unsigned i = 0; i < 64; ++i)
    seed = seed * 1664525u + 1013904223u, in[i] = static_cast<int>(seed >> 8) - (1 << 22);
  reductions_kernel<<<1, 64>>>(in, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < 64; ++me) {
    const unsigned start = me / 16 * 16;
    Reductions e = {in[start], in[start],       in[start], in[start], in[start], in[start],
                    0,         in[start] * 0.5, in[start], 0,         in[start]};
    for (unsigned i = start + 1; i < start + 16; ++i) {
      e.sum += in[i], e.real += in[i] * 0.5;
      e.least = in[i] < e.least ? in[i] : e.least;
      e.greatest = in[i] > e.greatest ? in[i] : e.greatest;
      e.all &= in[i], e.any |= in[i], e.odd ^= in[i];
      if (i > me) continue;
      e.exclusive = e.inclusive, e.inclusive += in[i];
      e.greatest_so_far = in[i] > e.greatest_so_far ? in[i] : e.greatest_so_far;
    }
    if (in[me] % 3) {
      int members = 0, last = 0;
      for (unsigned i = me / 32 * 32; i < me / 32 * 32 + 32; ++i)
        if (in[i] % 3) ++members, last = in[i];
      e.coalesced = last * 100 + members;
    }
    EXPECT_EQUAL_AT(me, out[me].sum, e.sum);
    EXPECT_EQUAL_AT(me, out[me].least, e.least);
    EXPECT_EQUAL_AT(me, out[me].greatest, e.greatest);
    EXPECT_EQUAL_AT(me, out[me].all, e.all);
    EXPECT_EQUAL_AT(me, out[me].any, e.any);
    EXPECT_EQUAL_AT(me, out[me].odd, e.odd);
    EXPECT_EQUAL_AT(me, out[me].real, e.real);
    EXPECT_EQUAL_AT(me, out[me].inclusive, e.inclusive);
    EXPECT_EQUAL_AT(me, out[me].exclusive, e.exclusive);
    EXPECT_EQUAL_AT(me, out[me].greatest_so_far, e.greatest_so_far);
    EXPECT_EQUAL_AT(me, out[me].coalesced, e.coalesced);
  }
}

// -- into an atomic --

#ifdef __CUPOLA__  // NVIDIA's header takes cuda::atomic only

/// Counts what it is asked for.
struct CountingAtomic {
  int value;
  unsigned adds, swaps;
  __device__ int load() const { return value; }
  __device__ int fetch_add(int by) {
    atomicAdd(&adds, 1u);
    return atomicAdd(&value, by);
  }
  __device__ bool compare_exchange_weak(int& expected, int desired) {
    const int before = atomicCAS(&value, expected, desired);
    atomicAdd(&swaps, before == expected);
    const bool done = before == expected;
    expected = before;
    return done;
  }
};

__global__ void update_kernel(CountingAtomic* atomics) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int me = static_cast<int>(threadIdx.x);
  cg::reduce_update_async(tile, atomics[0], me, cg::plus<int>());
  const cg::plus<int> add;
  cg::reduce_update_async(tile, atomics[0], me, add);
  cg::reduce_update_async(tile, atomics[1], me, cg::less<int>());  // the atomic has no fetch_min
  cg::reduce_update_async(tile, atomics[2], me, [](int a, int b) { return a + b; });
  cg::plus<int> again;
  cg::inclusive_scan_update(tile, atomics[3], me, again);
}

CASE(one_atomic_operation_adds_to_an_atomic) {
  check::Managed<CountingAtomic> atomics(4);
  for (int i = 0; i < 4; ++i) atomics[i] = {100, 0, 0};
  update_kernel<<<1, 64>>>(atomics);
  CUDA_OK(cudaDeviceSynchronize());
  const CountingAtomic expected[] = {{100 + 2 * 2016, 4, 0}, {0, 0, 2}, {100 + 2016, 0, 2}, {100 + 2016, 2, 0}};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQUAL_AT(i, atomics[i].value, expected[i].value);
    EXPECT_EQUAL_AT(i, atomics[i].adds, expected[i].adds);
    EXPECT_EQUAL_AT(i, atomics[i].swaps, expected[i].swaps);
  }
}

#endif

// -- partitions by value --

__global__ void partitions_kernel(unsigned* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const cg::coalesced_group same = cg::labeled_partition(warp, warp.thread_rank() * 7 % 5);
  const cg::coalesced_group halves = cg::binary_partition(same, warp.thread_rank() < 16);
  unsigned* at = out + threadIdx.x * 5;
  at[0] = same.size() * 100 + same.thread_rank();
  at[1] = same.meta_group_size();
  at[2] = halves.size() * 100 + halves.thread_rank();
  at[3] = same.shfl(threadIdx.x, 0);
  const cg::coalesced_group pairs = cg::tiled_partition(same, 2);
  at[4] = pairs.size() * 100 + pairs.thread_rank() + pairs.meta_group_rank() * 10000;
}

CASE(partitions_by_value) {
  check::Managed<unsigned> out(32 * 5);
  partitions_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned me = 0; me < 32; ++me) {
    unsigned members = 0, rank = 0, near = 0, near_rank = 0, first = 99;
    for (unsigned i = 0; i < 32; ++i) {
      if (i * 7 % 5 != me * 7 % 5) continue;
      if (first == 99) first = i;
      ++members, rank += i < me;
      if (i / 16 == me / 16) ++near, near_rank += i < me;
    }
    const unsigned pair = rank / 2 * 2 + 1 < members ? 2 : 1;
    const unsigned expected[] = {members * 100 + rank, 5, near * 100 + near_rank, first,
                                 pair * 100 + rank % 2 + rank / 2 * 10000};
    for (unsigned i = 0; i < 5; ++i) EXPECT_EQUAL_AT(me * 5 + i, out[me * 5 + i], expected[i]);
  }
}

// -- copies, one member's calls, split barriers --

__global__ void copies_kernel(const short* in, short* out, unsigned* calls) {
  __shared__ short staged[101];
  const cg::thread_block block = cg::this_thread_block();
  cg::memcpy_async(block, staged, in, sizeof(short) * 50);
  cg::memcpy_async(block, staged + 50, 51, in + 50, 60);  // the smaller count holds
  cg::wait_prior<1>(block);
  cg::wait(block);
  for (unsigned i = block.thread_rank(); i < 101; i += block.size()) out[i] = staged[100 - i];
  cg::invoke_one(block, [&] { atomicAdd(calls, 1u); });
  cg::invoke_one(cg::tiled_partition<32>(block), [&](unsigned add) { atomicAdd(calls, add); }, 100u);

  __shared__ unsigned flag;
  auto token = block.barrier_arrive();
  block.barrier_wait(static_cast<cg::thread_block::arrival_token&&>(token));
  if (block.thread_rank() == 95) flag = 7;
  block.barrier_wait(block.barrier_arrive());
  atomicAdd(calls + 1, flag);
}

CASE(copies_and_single_calls) {
  check::Managed<short> in(128), out(101);
  check::Managed<unsigned> calls(2);
  for (int i = 0; i < 128; ++i) in[i] = static_cast<short>(i * 321);
  copies_kernel<<<1, 96>>>(in, out, calls);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 101; ++i) EXPECT_EQUAL_AT(i, out[i], in[100 - i]);
  EXPECT_EQUAL(calls[0], 1u + 3 * 100);
  EXPECT_EQUAL(calls[1], 96u * 7);
}

CHECK_MAIN()
