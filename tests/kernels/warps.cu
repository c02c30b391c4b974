// Shuffles, votes, matches, reductions and warp barriers over full and partial masks. Oracle: the definitions of the
// PTX ISA (shfl.sync, vote.sync, match.sync, redux.sync) written lane by lane on the host.

#include "check.h"

constexpr unsigned kFull = 0xffffffffu;

__global__ void shuffle_kernel(const int* in, int* out, int width) {
  int lane = threadIdx.x, value = in[lane];
  out[lane * 4] = __shfl_sync(kFull, value, (lane * 5 + 3) % 40, width);
  out[lane * 4 + 1] = __shfl_up_sync(kFull, value, lane % 7, width);
  out[lane * 4 + 2] = __shfl_down_sync(kFull, value, lane % 11, width);
  out[lane * 4 + 3] = __shfl_xor_sync(kFull, value, lane % 32, width);
}

CASE(shuffles_of_every_width) {
  check::Managed<int> in(32), out(128);
  for (int i = 0; i < 32; ++i) in[i] = i * 1001 - 500;
  for (int width : {1, 2, 4, 8, 16, 32}) {
    shuffle_kernel<<<1, 32>>>(in, out, width);
    CUDA_OK(cudaDeviceSynchronize());
    for (int lane = 0; lane < 32; ++lane) {
      int base = lane / width * width, last = base + width - 1;
      EXPECT_EQUAL_AT(lane, out[lane * 4], in[base + (lane * 5 + 3) % 40 % width]);
      int up = lane - lane % 7, down = lane + lane % 11, exchanged = lane ^ (lane % 32);
      EXPECT_EQUAL_AT(lane, out[lane * 4 + 1], in[up >= base ? up : lane]);
      EXPECT_EQUAL_AT(lane, out[lane * 4 + 2], in[down <= last ? down : lane]);
      EXPECT_EQUAL_AT(lane, out[lane * 4 + 3], in[exchanged <= last ? exchanged : lane]);
    }
  }
}

template <typename T>
__global__ void typed_shuffle_kernel(T* out, T scale) {
  T value = static_cast<T>(threadIdx.x) * scale;
  out[threadIdx.x] = __shfl_sync(kFull, value, threadIdx.x ^ 21);
}

template <typename T>
void typed_shuffle(T scale) {
  check::Managed<T> out(32);
  typed_shuffle_kernel<T><<<1, 32>>>(out, scale);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 32; ++i) EXPECT_EQUAL_AT(i, out[i], static_cast<T>(i ^ 21) * scale);
}

CASE(shuffles_of_every_type) {
  typed_shuffle<int>(-100000);
  typed_shuffle<unsigned>(123456789u);
  typed_shuffle<long>(-10000000000l);
  typed_shuffle<unsigned long>(10000000000ul);
  typed_shuffle<long long>(-1234567890123ll);
  typed_shuffle<unsigned long long>(1234567890123ull);
  typed_shuffle<float>(0.37f);
  typed_shuffle<double>(1.0 / 3);
}

__global__ void vote_kernel(const unsigned* masks, unsigned* out) {
  unsigned lane = threadIdx.x % 32, mask = masks[blockIdx.x], other = ~mask;
  unsigned mine = mask >> lane & 1 ? mask : other;
  bool predicate = lane % 3 == 1;
  unsigned* to = out + (blockIdx.x * 32 + lane) * 4;
  if (mask >> lane & 1) {
    to[0] = __ballot_sync(mine, predicate);
    to[1] = __any_sync(mine, predicate);
    to[2] = __all_sync(mine, predicate);
    to[3] = __shfl_sync(mine, lane * 2, __ffs(mine) - 1);
  } else {
    to[0] = __ballot_sync(mine, predicate);
    to[1] = __any_sync(mine, predicate);
    to[2] = __all_sync(mine, predicate);
    to[3] = __shfl_sync(mine, lane * 2, __ffs(mine) - 1);
  }
}

CASE(votes_over_partial_masks) {
  const unsigned samples[] = {0xffffffffu, 0x1u,        0x80000000u, 0x0000ffffu,
                              0xaaaaaaaau, 0x12345678u, 0x00010001u, 0x92492492u};
  const int count = sizeof samples / sizeof *samples;
  check::Managed<unsigned> masks(count), out(count * 128);
  for (int i = 0; i < count; ++i) masks[i] = samples[i];
  vote_kernel<<<count, 32>>>(masks, out);
  CUDA_OK(cudaDeviceSynchronize());
  const unsigned predicates = 0x92492492u;  // bits 1, 4, 7, ...
  for (int i = 0; i < count; ++i)
    for (int lane = 0; lane < 32; ++lane) {
      unsigned mine = samples[i] >> lane & 1 ? samples[i] : ~samples[i];
      unsigned* got = &out[(i * 32 + lane) * 4];
      EXPECT_EQUAL_AT(i * 32 + lane, got[0], mine & predicates);
      EXPECT_EQUAL_AT(i * 32 + lane, got[1] != 0, (mine & predicates) != 0);
      EXPECT_EQUAL_AT(i * 32 + lane, got[2] != 0, (mine & ~predicates) == 0);
      EXPECT_EQUAL_AT(i * 32 + lane, got[3], 2 * __builtin_ctz(mine));
    }
}

__global__ void match_kernel(unsigned* out, int* all) {
  unsigned lane = threadIdx.x;
  out[lane] = __match_any_sync(kFull, lane % 5);
  out[32 + lane] = __match_any_sync(kFull, static_cast<unsigned long long>(lane % 3) << 40);
  int predicate = -1;
  out[64 + lane] = __match_all_sync(kFull, 42, &predicate);
  all[lane] = predicate;
  out[96 + lane] = __match_all_sync(kFull, lane / 31, &predicate);
  all[32 + lane] = predicate;
}

CASE(matches) {
  check::Managed<unsigned> out(128);
  check::Managed<int> all(64);
  match_kernel<<<1, 32>>>(out, all);
  CUDA_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; ++lane) {
    unsigned five = 0, three = 0;
    for (int other = 0; other < 32; ++other) {
      five |= unsigned{other % 5 == lane % 5} << other;
      three |= unsigned{other % 3 == lane % 3} << other;
    }
    EXPECT_EQUAL_AT(lane, out[lane], five);
    EXPECT_EQUAL_AT(lane, out[32 + lane], three);
    EXPECT_EQUAL_AT(lane, out[64 + lane], kFull);
    EXPECT_EQUAL_AT(lane, all[lane], 1);
    EXPECT_EQUAL_AT(lane, out[96 + lane], 0u);
    EXPECT_EQUAL_AT(lane, all[32 + lane], 0);
  }
}

__global__ void redux_kernel(unsigned* out) {
  unsigned lane = threadIdx.x, mask = lane < 20 ? 0x000fffffu : 0xfff00000u;
  int value = static_cast<int>(lane * 77) - 900;
  if (lane < 20) {
    out[lane] = __reduce_add_sync(mask, value);
    out[32 + lane] = __reduce_min_sync(mask, value);
    out[64 + lane] = __reduce_max_sync(mask, static_cast<unsigned>(value));
    out[96 + lane] = __reduce_xor_sync(mask, static_cast<unsigned>(value));
  } else {
    out[lane] = __reduce_add_sync(mask, value);
    out[32 + lane] = __reduce_min_sync(mask, value);
    out[64 + lane] = __reduce_max_sync(mask, static_cast<unsigned>(value));
    out[96 + lane] = __reduce_xor_sync(mask, static_cast<unsigned>(value));
  }
}

CASE(reductions_over_partial_masks) {
  check::Managed<unsigned> out(128);
  redux_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; ++lane) {
    int sum = 0, least = INT32_MAX;
    unsigned most = 0, mixed = 0;
    for (int other = lane < 20 ? 0 : 20; other < (lane < 20 ? 20 : 32); ++other) {
      int value = other * 77 - 900;
      sum += value;
      least = value < least ? value : least;
      most = static_cast<unsigned>(value) > most ? value : most;
      mixed ^= static_cast<unsigned>(value);
    }
    EXPECT_EQUAL_AT(lane, out[lane], static_cast<unsigned>(sum));
    EXPECT_EQUAL_AT(lane, out[32 + lane], static_cast<unsigned>(least));
    EXPECT_EQUAL_AT(lane, out[64 + lane], most);
    EXPECT_EQUAL_AT(lane, out[96 + lane], mixed);
  }
}

__global__ void active_kernel(unsigned* out) {
  unsigned lane = threadIdx.x;
  out[lane] = __activemask();
  unsigned inside;
  if (lane % 4 == 1)
    inside = __activemask();
  else
    inside = __activemask() | 0;
  out[32 + lane] = inside;
}

// The mask may be any set of converged lanes that holds the caller's own; ours is the largest.
CASE(active_masks) {
  check::Managed<unsigned> out(64);
  active_kernel<<<1, 32>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int lane = 0; lane < 32; ++lane) {
    EXPECT_EQUAL_AT(lane, out[lane], kFull);
    EXPECT_EQUAL_AT(lane, out[32 + lane] >> lane & 1, 1u);
    EXPECT_EQUAL_AT(lane, out[32 + lane] & (lane % 4 == 1 ? 0xddddddddu : 0x22222222u), 0u);
  }
}

__global__ void partial_warp_kernel(int* out, int n) {
  int value = threadIdx.x;
  unsigned mask = __ballot_sync(kFull, true);
  for (int offset = 16; offset > 0; offset /= 2) {
    int other = __shfl_down_sync(mask, value, offset);
    if (static_cast<int>(threadIdx.x % 32) + offset < n) value += other;
  }
  if (threadIdx.x == 0) {
    out[0] = value;
    out[1] = mask;
  }
}

CASE(blocks_smaller_than_a_warp) {
  check::Managed<int> out(2);
  for (int n : {1, 7, 16, 31}) {
    partial_warp_kernel<<<1, n>>>(out, n);
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT_EQUAL_AT(n, out[0], n * (n - 1) / 2);
    EXPECT_EQUAL_AT(n, static_cast<unsigned>(out[1]), (1u << n) - 1);
  }
}

__global__ void lane_kernel(unsigned* out) {
  unsigned lane, less, greater;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(less));
  asm("mov.u32 %0, %%lanemask_gt;" : "=r"(greater));
  out[threadIdx.x * 3] = lane;
  out[threadIdx.x * 3 + 1] = less;
  out[threadIdx.x * 3 + 2] = greater;
}

CASE(lane_registers) {
  check::Managed<unsigned> out(64 * 3);
  lane_kernel<<<1, 64>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned t = 0; t < 64; ++t) {
    unsigned lane = t % 32;
    EXPECT_EQUAL_AT(t, out[t * 3], lane);
    EXPECT_EQUAL_AT(t, out[t * 3 + 1], (1u << lane) - 1);
    EXPECT_EQUAL_AT(t, out[t * 3 + 2], lane == 31 ? 0 : kFull << (lane + 1));
  }
}

CHECK_MAIN()
