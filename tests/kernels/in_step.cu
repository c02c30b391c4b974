// What threads of a warp that run in step must not notice; each kernel takes that rung unless CUPOLA_RUNG says
// otherwise or it would not fit. Expectations follow from the kernels by hand.

#include <algorithm>

#include "check.h"

constexpr int kWarp = 32;

struct Numbers {
  int at[8];
};

// A parameter passed by value is each thread's own.
__global__ void writes_its_parameter(Numbers numbers, int* out) {
  int lane = threadIdx.x;
  numbers.at[lane % 8] += lane;
  out[lane] = numbers.at[3] * 1000 + numbers.at[lane % 8];
}

CASE(a_parameter_that_a_thread_writes_is_its_own) {
  check::Managed<int> out(kWarp);
  writes_its_parameter<<<1, kWarp>>>(Numbers{{0, 10, 20, 30, 40, 50, 60, 70}}, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) {
    int own = i % 8 * 10 + i, third = i % 8 == 3 ? own : 30;
    EXPECT_EQUAL_AT(i, out[i], third * 1000 + own);
  }
}

// Where bit 5 is clear, "or" adds 32; in lane 0, which is not there, it would not.
__global__ void sets_a_clear_bit(int* out, int first) {
  int i = threadIdx.x + first;
  if ((i & 32) == 0) out[threadIdx.x] = i | 32;
}

CASE(setting_a_bit_that_is_clear_where_lane_0_is_not_there) {
  check::Managed<int> out(kWarp);
  sets_a_clear_bit<<<1, kWarp>>>(out, 40);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) EXPECT_EQUAL_AT(i, out[i], i < 24 ? 0 : 40 + i + 32);
}

// A number of 16 bits that grows by 2048 a lane is negative from lane 16 on.
__global__ void grows_past_its_width(unsigned short* narrow, int* wide) {
  unsigned short number = threadIdx.x, shifted;
  asm("shl.b16 %0, %1, 11;" : "=h"(shifted) : "h"(number));
  narrow[threadIdx.x] = shifted;
  wide[threadIdx.x] = static_cast<short>(shifted);
}

CASE(a_narrow_number_wraps_between_lanes) {
  check::Managed<unsigned short> narrow(kWarp);
  check::Managed<int> wide(kWarp);
  grows_past_its_width<<<1, kWarp>>>(narrow, wide);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) {
    EXPECT_EQUAL_AT(i, narrow[i], 2048 * i);
    EXPECT_EQUAL_AT(i, wide[i], i < 16 ? 2048 * i : 2048 * i - 65536);
  }
}

// The second warp sets what each lane of the first waits for.
__global__ void waits_for_all_flags(volatile int* flags, int* out) {
  if (threadIdx.x >= kWarp) {
    flags[threadIdx.x - kWarp] = 1;
    return;
  }
  while (!__all_sync(~0u, flags[threadIdx.x])) {
  }
  out[threadIdx.x] = 1;
}

CASE(volatile_flags_of_all_lanes_are_read_each_turn) {
  check::Managed<int> flags(kWarp), out(kWarp);
  waits_for_all_flags<<<1, 2 * kWarp>>>(flags, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) EXPECT_EQUAL_AT(i, out[i], 1);
}

template <int Times>
__device__ void count_down(unsigned long long* number, unsigned long long end) {
  if constexpr (Times == 1) {
    atomicCAS(number, end + 1, end);
  } else {
    count_down<Times - Times / 2>(number, end + Times / 2);
    count_down<Times / 2>(number, end);
  }
}

// Each exchange is done lane by lane, with places for its operands: 768 bytes.
__global__ void counts_down_700_times(unsigned long long* numbers) {
  count_down<700>(numbers + threadIdx.x, threadIdx.x);
}

CASE(many_atomics_do_not_use_up_the_stack) {
  check::Managed<unsigned long long> numbers(kWarp);
  for (int i = 0; i < kWarp; ++i) numbers[i] = i + 700;
  counts_down_700_times<<<1, kWarp>>>(numbers);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) EXPECT_EQUAL_AT(i, numbers[i], i);
}

__global__ void stops_at(int* out, int last) {
  int i = threadIdx.x;
  if (i > last) __trap();
  out[i] = i;
  __syncthreads();
  int other = out[i ^ 33];
  __syncthreads();
  out[i] += other;
}

CASE(threads_that_could_have_trapped_go_on) {
  check::Managed<int> out(2 * kWarp);
  stops_at<<<1, 2 * kWarp>>>(out, 2 * kWarp);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 2 * kWarp; ++i) EXPECT_EQUAL_AT(i, out[i], i + (i ^ 33));
}

// Warp w leaves after w + 1 phases, its odd lanes a phase before the even ones. Who is left sees what all who were
// there wrote before the barrier, and how many voted.
constexpr int kPhases = 6;
__global__ void leaves_phase_by_phase(int* seen, int* votes) {
  __shared__ int written[kPhases * kWarp];
  int warp = threadIdx.x / kWarp, history[kPhases];
  for (int phase = 0; phase < kPhases; ++phase) {
    if (phase > warp || (phase == warp && threadIdx.x % 2)) return;
    written[threadIdx.x] = phase + 1;
    int there = __syncthreads_count(1), all = __syncthreads_and(warp > 2), any = __syncthreads_or(warp == 3);
    history[phase] = written[kPhases * kWarp - 1 - threadIdx.x];
    if (threadIdx.x % kWarp == 0) {
      seen[warp * kPhases + phase] = history[phase] + 10 * history[phase / 2];
      votes[warp * kPhases + phase] = there * 100 + all * 10 + any;
    }
    __syncthreads();
  }
}

CASE(warps_that_leave_between_barriers) {
  check::Managed<int> seen(kPhases * kPhases), votes(kPhases * kPhases);
  leaves_phase_by_phase<<<3, kPhases * kWarp>>>(seen, votes);
  CUDA_OK(cudaDeviceSynchronize());
  // Lane 31 of the opposite warp writes in all phases before its warp's last.
  const auto last_written = [](int warp, int phase) { return phase < warp ? phase + 1 : warp; };
  for (int warp = 0; warp < kPhases; ++warp)
    for (int phase = 0; phase <= warp; ++phase) {
      int opposite = kPhases - 1 - warp;
      int early = last_written(opposite, phase / 2), now = last_written(opposite, phase);
      if (opposite > 0 || now > 0)
        EXPECT_EQUAL_AT(warp * kPhases + phase, seen[warp * kPhases + phase], now + 10 * early);
      int there = (kPhases - phase) * kWarp - kWarp / 2, all = phase > 2, any = phase <= 3;
      EXPECT_EQUAL_AT(warp * kPhases + phase, votes[warp * kPhases + phase], there * 100 + all * 10 + any);
    }
}

// After a barrier each thread still is who it was.
__global__ void asks_who_it_is(int* out) {
  __shared__ int turn;
  if (threadIdx.x + threadIdx.y + threadIdx.z == 0) turn = 1;
  __syncthreads();
  int place = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  unsigned lane;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  out[blockIdx.x * blockDim.x * blockDim.y * blockDim.z + place] = place + turn * 1000 + (lane == place % 32) * 10000;
}

CASE(threads_keep_their_place_over_barriers) {
  for (const dim3 block : {dim3(64), dim3(32, 3, 2), dim3(16, 5), dim3(5, 3, 7), dim3(8, 8)}) {
    int threads = block.x * block.y * block.z;
    check::Managed<int> out(3 * threads);
    asks_who_it_is<<<3, block>>>(out);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3 * threads; ++i) EXPECT_EQUAL_AT(i, out[i], i % threads + 11000);
  }
}

// ---- blocks whose rows are 16 or 8 threads long: a warp is two or four of them ----

// Sizes that tiles do not divide; small whole numbers, so that sums are exact in any order.
template <int Tile>
__global__ void multiplies_by_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float of_a[Tile][Tile], of_b[Tile][Tile];
  int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int start = 0; start < n; start += Tile) {
    int x = start + threadIdx.x, y = start + threadIdx.y;
    of_a[threadIdx.y][threadIdx.x] = row < n && x < n ? a[row * n + x] : 0;
    of_b[threadIdx.y][threadIdx.x] = y < n && column < n ? b[y * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < Tile; ++k) sum += of_a[threadIdx.y][k] * of_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}

template <int Tile>
void multiply(int n) {
  check::Managed<float> a(n * n), b(n * n), c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = i % 7 - 3, b[i] = i % 11 - 5;
  int tiles = (n + Tile - 1) / Tile;
  multiplies_by_tiles<Tile><<<dim3(tiles, tiles), dim3(Tile, Tile)>>>(a, b, c, n);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < n * n; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
    EXPECT_EQUAL_AT(i, c[i], sum);
  }
}

CASE(a_tiled_matrix_product_in_rows_of_16_and_8) {
  for (int n : {16, 37, 48}) multiply<16>(n), multiply<8>(n);
}

template <int Tile, typename T>
__global__ void transposes(const T* in, T* out, int width, int height) {
  __shared__ T tile[Tile][Tile + 1];
  int x = blockIdx.x * Tile + threadIdx.x, y = blockIdx.y * Tile + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * Tile + threadIdx.x, y = blockIdx.x * Tile + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}

template <int Tile, typename T>
void transpose(int width, int height) {
  check::Managed<T> in(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = static_cast<T>(i * 77 + 5);
  dim3 grid((width + Tile - 1) / Tile, (height + Tile - 1) / Tile);
  transposes<Tile, T><<<grid, dim3(Tile, Tile)>>>(in, out, width, height);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < width * height; ++i)
    EXPECT_EQUAL_AT(i, out[i], static_cast<T>((i % height * width + i / height) * 77 + 5));
}

CASE(a_transpose_through_a_tile_in_rows_of_16_and_8) {
  transpose<16, int>(45, 29), transpose<8, int>(45, 29);
  transpose<16, double>(32, 48), transpose<8, double>(33, 16);
  transpose<16, unsigned char>(45, 29), transpose<8, unsigned char>(45, 29);
  transpose<16, short>(45, 29), transpose<8, short>(45, 29);
}

__global__ void smooths(const int* in, int* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int i = y * width + x, sum = 4 * in[i];
  sum += x > 0 ? in[i - 1] : 1000;
  sum += x < width - 1 ? in[i + 1] : 2000;
  if (y > 0) sum += in[i - width];
  if (y < height - 1) sum += in[i + width];
  out[i] = sum;
}

void smooth(int width, int height, dim3 block) {
  check::Managed<int> in(width * height), out(width * height);
  for (int i = 0; i < width * height; ++i) in[i] = i * i % 1009;
  smooths<<<dim3((width + block.x - 1) / block.x, (height + block.y - 1) / block.y), block>>>(in, out, width, height);
  CUDA_OK(cudaDeviceSynchronize());
  const auto at = [&](int x, int y) {
    return y < 0 || y >= height ? 0 : x < 0 ? 1000 : x >= width ? 2000 : in[y * width + x];
  };
  for (int i = 0; i < width * height; ++i) {
    int x = i % width, y = i / width;
    EXPECT_EQUAL_AT(i, out[i], 4 * at(x, y) + at(x - 1, y) + at(x + 1, y) + at(x, y - 1) + at(x, y + 1));
  }
}

CASE(a_stencil_with_borders_in_rows_of_16_and_8) {
  for (dim3 block : {dim3(16, 16), dim3(8, 8), dim3(16, 2), dim3(8, 4), dim3(16, 5), dim3(8, 3)})
    smooth(50, 35, block), smooth(64, 64, block), smooth(3, 7, block);
}

// Where each thread of a block is.
__global__ void tells_places(int* out) {
  int i = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[i] = threadIdx.x + 100 * threadIdx.y + 10000 * threadIdx.z;
}

CASE(places_in_blocks_of_three_dimensions) {
  for (dim3 block : {dim3(16, 1, 4), dim3(16, 3, 2), dim3(8, 1, 8), dim3(8, 2, 6), dim3(8, 3, 4), dim3(16, 3, 3)}) {
    int count = block.x * block.y * block.z;
    check::Managed<int> out(count);
    tells_places<<<1, block>>>(out);
    CUDA_OK(cudaDeviceSynchronize());
    for (unsigned i = 0; i < out.size(); ++i)
      EXPECT_EQUAL_AT(i, out[i], i % block.x + 100 * (i / block.x % block.y) + 10000 * (i / block.x / block.y));
  }
}

// Each row goes through as many numbers as its own place in a table says; a row of none must not be divided by.
__global__ void means_of_rows(const int* ends, const int* numbers, int* means) {
  int row = threadIdx.y, begin = row ? ends[row - 1] : 0, count = ends[row] - begin, sum = 0;
  for (int i = begin + threadIdx.x; i < ends[row]; i += blockDim.x) sum += numbers[i];
  for (int distance = blockDim.x / 2; distance; distance /= 2) sum += __shfl_down_sync(~0u, sum, distance, blockDim.x);
  if (threadIdx.x == 0) means[row] = count ? sum / count : -1;
}

CASE(rows_of_16_and_8_with_loops_of_their_own) {
  constexpr int kRows = 8, kCounts[kRows] = {5, 0, 40, 1, 17, 16, 0, 100};
  check::Managed<int> ends(kRows), numbers(200), means(kRows);
  for (int i = 0, end = 0; i < kRows; ++i) ends[i] = end += kCounts[i];
  for (int i = 0; i < 200; ++i) numbers[i] = i * 3;
  for (int width : {16, 8}) {
    means_of_rows<<<1, dim3(width, kRows)>>>(ends, numbers, means);
    CUDA_OK(cudaDeviceSynchronize());
    for (int row = 0; row < kRows; ++row) {
      int sum = 0;
      for (int i = ends[row] - kCounts[row]; i < ends[row]; ++i) sum += 3 * i;
      EXPECT_EQUAL_AT(row, means[row], kCounts[row] ? sum / kCounts[row] : -1);
    }
  }
}

// ---- lanes that an operation names and that are on their way out: nobody waits for a thread that has exited ----

// Pairs of lanes leave the loop one after the other, store what they have and exit.
__global__ void meets_who_is_left(const int* turns, int* sums, int* counts) {
  int i = threadIdx.x, left = turns[i], sum = i, count = 0;
  while (true) {
    if (left-- == 0) break;
    sum += __shfl_xor_sync(~0u, sum, 1);
    count += __popc(__ballot_sync(~0u, sum != -1));
  }
  sums[i] = sum, counts[i] = count;
}

/// Threads of `i`'s warp with more than `turn` turns.
int count_left(const int* turns, int threads, int i, int turn) {
  int count = 0, begin = i / kWarp * kWarp;
  for (int k = begin; k < threads && k < begin + kWarp; ++k) count += turns[k] > turn;
  return count;
}

CASE(lanes_that_left_a_loop_for_good_are_not_waited_for) {
  for (int threads : {32, 96, 20, 50}) {
    check::Managed<int> turns(threads), sums(threads), counts(threads);
    for (int i = 0; i < threads; ++i) turns[i] = i / 2 * 7 % 11;
    meets_who_is_left<<<1, threads>>>(turns, sums, counts);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < threads; ++i) {
      int count = 0;
      for (int turn = 0; turn < turns[i]; ++turn) count += count_left(turns, threads, i, turn);
      EXPECT_EQUAL_AT(i, sums[i], turns[i] == 0 ? i : (i + (i ^ 1)) << (turns[i] - 1));
      EXPECT_EQUAL_AT(i, counts[i], count);
    }
  }
}

// Who left the loop meets those that are there with it, which is nobody who waits in the loop.
__global__ void counts_itself_at_last(const int* turns, int* counts, int* total) {
  int i = threadIdx.x, left = turns[i], count = 0;
  for (; left > 0; --left) count += __popc(__ballot_sync(~0u, true));
  counts[i] = count;
  unsigned there = __activemask();
  int group = __popc(__ballot_sync(there, true));
  if (i % kWarp == __ffs(there) - 1) atomicAdd(total, group);
}

CASE(lanes_that_meet_only_each_other_are_not_waited_for) {
  for (int threads : {32, 96, 20, 50}) {
    check::Managed<int> turns(threads), counts(threads), total(1);
    for (int i = 0; i < threads; ++i) turns[i] = i * 7 % 11;
    total[0] = 0;
    counts_itself_at_last<<<1, threads>>>(turns, counts, total);
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT_EQUAL(total[0], threads);
    for (int i = 0; i < threads; ++i) {
      int count = 0;
      for (int turn = 0; turn < turns[i]; ++turn) count += count_left(turns, threads, i, turn);
      EXPECT_EQUAL_AT(i, counts[i], count);
    }
  }
}

// Lanes return at two places of a loop, and meet at several.
__global__ void returns_between_meetings(const int* turns, int* totals) {
  int i = threadIdx.x, total = 0;
  for (int turn = 0;; ++turn) {
    total += __popc(__ballot_sync(~0u, true));
    if (turns[i] == 2 * turn) return;
    total += __popc(__ballot_sync(~0u, true));
    total += __reduce_add_sync(~0u, 1000);
    totals[i] = total;
    if (turns[i] == 2 * turn + 1) return;
  }
}

CASE(lanes_that_returned_from_a_loop_are_not_waited_for) {
  for (int threads : {32, 96, 20, 50}) {
    check::Managed<int> turns(threads), totals(threads);
    for (int i = 0; i < threads; ++i) turns[i] = i * 7 % 11, totals[i] = 0;
    returns_between_meetings<<<1, threads>>>(turns, totals);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < threads; ++i) {
      int total = 0, stored = 0;
      for (int turn = 0; 2 * turn <= turns[i]; ++turn) {
        total += count_left(turns, threads, i, 2 * turn - 1);
        if (turns[i] == 2 * turn) break;
        stored = total += 1001 * count_left(turns, threads, i, 2 * turn);
      }
      EXPECT_EQUAL_AT(i, totals[i], stored);
    }
  }
}

// The others go past the branch, and out.
__global__ void meets_under_a_branch(int* out, int first) {
  int i = threadIdx.x, lane = i % kWarp, value = -i;
  if (lane >= first) {
    value = __shfl_sync(~0u, i, kWarp - 1) + 100 * __all_sync(~0u, lane >= first);
    __syncwarp();
    value += 1000 * __popc(__match_any_sync(~0u, lane / 4));
  }
  out[i] = value;
}

CASE(lanes_that_went_past_a_branch_and_out_are_not_waited_for) {
  check::Managed<int> out(2 * kWarp);
  for (int first : {0, 4, 20, 28}) {
    meets_under_a_branch<<<1, 2 * kWarp>>>(out, first);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 2 * kWarp; ++i)
      EXPECT_EQUAL_AT(i, out[i], i % kWarp < first ? -i : i / kWarp * kWarp + kWarp - 1 + 100 + 4000);
  }
}

// ---- lanes that find out who has the same number, of whom the first stores ----

constexpr int kDigits = 8;

__device__ unsigned peers_by_votes(int digit) {
  unsigned peers = ~0u;
  for (int bit = 0; bit < 3; ++bit) {
    unsigned vote = __ballot_sync(~0u, digit >> bit & 1);
    peers &= digit >> bit & 1 ? vote : ~vote;
  }
  return peers;
}

/// Of each of the grid's warps, by who has a digit: how many they are, and that in another way.
__global__ void counts_peers(const int* numbers, int (*counts)[kDigits], int (*scores)[kDigits]) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, warp = i / kWarp, lane = threadIdx.x % kWarp;
  int digit = numbers[i] & (kDigits - 1);
  unsigned peers = peers_by_votes(digit), matched = __match_any_sync(~0u, digit);
  if ((peers & ((1u << lane) - 1)) == 0) counts[warp][digit] = __popc(peers);
  if (lane == __ffs(matched) - 1) scores[warp][digit] = 10 * __popc(matched) + digit;
}

/// A lane's own array, of which the first of those of a digit leaves the address, and reads it there.
__global__ void leaves_its_array(const int* numbers, int** arrays, int* read) {
  int own[kDigits];
  unsigned i = threadIdx.x, lane = i % kWarp;
  int digit = numbers[i] & (kDigits - 1);
  for (int k = 0; k < kDigits; ++k) own[k] = 1000 * i + numbers[k];
  unsigned peers = peers_by_votes(digit);
  const bool is_first = (peers & ((1u << lane) - 1)) == 0;
  if (is_first) arrays[i / kWarp * kDigits + digit] = own;
  __syncwarp();
  if (is_first) read[i] = arrays[i / kWarp * kDigits + digit][digit];
}

/// Lanes below `first` return. To the others they seem to have even digits.
__global__ void counts_peers_from(const int* numbers, int first, int (*counts)[kDigits]) {
  int i = threadIdx.x, lane = i % kWarp;
  if (lane < first) return;
  int digit = numbers[i] & 1;
  unsigned vote = __ballot_sync(~0u, digit), peers = digit ? vote : ~vote;
  if ((peers & ((1u << lane) - 1)) == 0) counts[i / kWarp][digit] = __popc(peers);
}

CASE(the_first_of_the_lanes_with_a_number_stores_for_all) {
  constexpr int kBlocks = 3;
  for (int threads : {32, 96, 256})
    for (int spread : {0, 1, 2, 7, 1000}) {
      const int warps = kBlocks * threads / kWarp;
      check::Managed<int> numbers(kBlocks * threads), counts(warps * kDigits), scores(warps * kDigits);
      for (int i = 0; i < kBlocks * threads; ++i) numbers[i] = i * 2654435 % (spread + 1);
      for (int i = 0; i < warps * kDigits; ++i) counts[i] = scores[i] = -1;
      const auto rows = [](int* all) { return reinterpret_cast<int (*)[kDigits]>(all); };
      counts_peers<<<kBlocks, threads>>>(numbers, rows(counts), rows(scores));
      CUDA_OK(cudaDeviceSynchronize());
      for (int warp = 0; warp < warps; ++warp)
        for (int digit = 0; digit < kDigits; ++digit) {
          int count = 0;
          for (int lane = 0; lane < kWarp; ++lane) count += (numbers[warp * kWarp + lane] & (kDigits - 1)) == digit;
          EXPECT_EQUAL_AT(warp, counts[warp * kDigits + digit], count > 0 ? count : -1);
          EXPECT_EQUAL_AT(warp, scores[warp * kDigits + digit], count > 0 ? 10 * count + digit : -1);
        }
    }
}

CASE(the_first_of_the_lanes_with_a_number_leaves_what_is_its_own) {
  constexpr int kThreads = 2 * kWarp;
  check::Managed<int> numbers(kThreads), read(kThreads);
  check::Managed<int*> arrays(kThreads / kWarp * kDigits);
  for (int i = 0; i < kThreads; ++i) numbers[i] = i % 5, read[i] = -1;
  leaves_its_array<<<1, kThreads>>>(numbers, arrays, read);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kThreads; ++i) {
    bool is_first = true;
    for (int k = i / kWarp * kWarp; k < i; ++k) is_first &= numbers[k] != numbers[i];
    EXPECT_EQUAL_AT(i, read[i], is_first ? 1000 * i + numbers[numbers[i]] : -1);
  }
}

CASE(lanes_that_returned_are_the_first_of_those_without_a_bit) {
  for (int first : {0, 1, 7, 31}) {
    check::Managed<int> numbers(2 * kWarp), counts(2 * kDigits);
    for (int i = 0; i < 2 * kWarp; ++i) numbers[i] = i * 7 % 5;
    for (int i = 0; i < 2 * kDigits; ++i) counts[i] = -1;
    counts_peers_from<<<1, 2 * kWarp>>>(numbers, first, reinterpret_cast<int (*)[kDigits]>(static_cast<int*>(counts)));
    CUDA_OK(cudaDeviceSynchronize());
    for (int warp = 0; warp < 2; ++warp) {
      int odd = 0;
      for (int lane = first; lane < kWarp; ++lane) odd += numbers[warp * kWarp + lane] & 1;
      EXPECT_EQUAL_AT(warp, counts[warp * kDigits], first == 0 ? kWarp - odd : -1);
      EXPECT_EQUAL_AT(warp, counts[warp * kDigits + 1], odd > 0 ? odd : -1);
    }
  }
}

// ---- counters in shared memory, a row for each warp, that are cleared after each round ----

constexpr int kRounds = 3, kCounted = 256;

/// How many of a round's numbers with the same digit come before the warp `shift` further on, and before the lane in
/// its own.
template <bool kOwn>
__global__ void __launch_bounds__(256)
    ranks_in_rounds(const unsigned* numbers, const int* places, unsigned* out, int shift) {
  __shared__ unsigned counts[8][kCounted];
  unsigned i = threadIdx.x, warp = i / kWarp, lane = i % kWarp;
  for (int row = 0; row < 8; ++row) counts[row][i] = 0;
  __syncthreads();
  for (int round = 0; round < kRounds; ++round) {
    unsigned digit = numbers[round * 256 + i] & (kCounted - 1), peers = ~0u;
    for (int bit = 0; bit < 8; ++bit) {
      unsigned vote = __ballot_sync(~0u, digit >> bit & 1);
      peers &= digit >> bit & 1 ? vote : ~vote;
    }
    unsigned rank = __popc(peers & ((1u << lane) - 1));
    if (rank == 0) counts[warp][digit] = __popc(peers);
    __syncthreads();
    unsigned running = 0;
    for (int row = 0; row < 8; ++row) {
      unsigned count = counts[row][i];
      counts[row][i] = running;
      running += count;
    }
    __syncthreads();
    out[places[round * 256 + i]] = counts[kOwn ? warp : (warp + shift) & 7][digit] + rank;
    __syncthreads();
    for (int row = 0; row < 8; ++row) counts[row][i] = 0;
    __syncthreads();
  }
}

CASE(rows_of_counters_are_cleared_after_their_last_use) {
  constexpr int kAll = kRounds * 256;
  for (int shift : {0, 1, 5})
    for (unsigned spread : {1u, 3u, 40u, 1000u}) {
      check::Managed<unsigned> numbers(kAll), out(kAll);
      check::Managed<int> places(kAll);
      for (unsigned i = 0; i < kAll; ++i)
        numbers[i] = (i * 2654435761u >> 7 & 0xffff) % spread, places[i] = i * 5 % kAll;
      (shift == 0 ? ranks_in_rounds<true> : ranks_in_rounds<false>)<<<1, 256>>>(numbers, places, out, shift);
      CUDA_OK(cudaDeviceSynchronize());
      const auto digit = [&](int i) { return numbers[i] & (kCounted - 1); };
      for (int i = 0; i < kAll; ++i) {
        const int begin = i / 256 * 256, warp = (i % 256 / kWarp + shift) % 8;
        unsigned expected = 0;
        for (int k = begin; k < begin + warp * kWarp; ++k) expected += digit(k) == digit(i);
        for (int k = i / kWarp * kWarp; k < i; ++k) expected += digit(k) == digit(i);
        EXPECT_EQUAL_AT(i, out[places[i]], expected);
      }
    }
}

// Lanes below 24 leave a loop one by one and are on their way out; the others, which no operation of the loop names,
// meet on their own.
__global__ void goes_two_ways(const int* turns, int* out) {
  constexpr unsigned kOthers = 0xff000000;
  int i = threadIdx.x, total = 0;
  if (i < 24) {
    for (int turn = 0; turn < turns[i]; ++turn) total += __popc(__ballot_sync(~kOthers, true));
  } else {
    total = __reduce_add_sync(kOthers, i);
    if (i == 30) total += __popc(__match_any_sync(1u << 30, i));
  }
  out[i] = total;
}

CASE(lanes_that_meet_elsewhere_hinder_only_who_names_them) {
  check::Managed<int> turns(kWarp), out(kWarp);
  for (int i = 0; i < kWarp; ++i) turns[i] = i * 5 % 7;
  goes_two_ways<<<1, kWarp>>>(turns, out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kWarp; ++i) {
    int total = 0;
    for (int turn = 0; turn < turns[i]; ++turn) total += count_left(turns, 24, i, turn);
    EXPECT_EQUAL_AT(i, out[i], i < 24 ? total : (24 + 31) * 4 + (i == 30));
  }
}

// Threads' places are a row in some steps of the network and none in others.
__device__ void order(unsigned& a, unsigned& b, bool up) {
  if ((a > b) != up) return;
  unsigned kept = a;
  a = b;
  b = kept;
}
__global__ void network_kernel(unsigned* keys, int count) {
  for (int k = 2; k <= count; k *= 2)
    for (int j = k / 2; j > 0; j /= 2) {
      int t = threadIdx.y * blockDim.x + threadIdx.x, i = 2 * t - (t & (j - 1));
      order(keys[i], keys[i + j], (i & k) == 0);
      __syncthreads();
    }
}

CASE(bitonic_network) {
  for (const dim3 block : {dim3(512), dim3(16, 32), dim3(8, 64)}) {
    check::Managed<unsigned> keys(1024);
    std::vector<unsigned> sorted(1024);
    for (unsigned i = 0; i < 1024; ++i) keys[i] = sorted[i] = i * 2654435761u;
    std::sort(sorted.begin(), sorted.end());
    network_kernel<<<1, block>>>(keys, 1024);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 1024; ++i) EXPECT_EQUAL_AT(i, keys[i], sorted[i]);
  }
}

// Rounds of a hash: more words than there are registers for a warp's.
template <typename Word>
__host__ __device__ void rounds(Word (&words)[20], const Word* keys, int count) {
  for (int round = 0; round < count; ++round) {
    Word mixed = keys[round];
    for (int w = 0; w < 20; ++w) mixed ^= words[w];
    for (int w = 0; w < 20; ++w) {
      const int bits = sizeof(Word) * 8, by = w % (bits - 1) + 1;
      const Word turned = words[w] << by | words[w] >> (bits - by);
      words[w] = (turned + mixed) ^ (~words[(w + 1) % 20] & words[(w + 7) % 20]);
      if (words[w] < mixed) words[w] += round;
    }
  }
}

template <typename Word>
__global__ void hash_kernel(Word* states, const Word* keys, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Word words[20];
  for (int w = 0; w < 20; ++w) words[w] = states[w * n + i];
  rounds(words, keys, count);
  for (int w = 0; w < 20; ++w) states[w * n + i] = words[w];
}

template <typename Word>
void hash() {
  const int n = 301, most = 9;
  check::Managed<Word> states(20 * n), keys(most);
  for (int count : {0, 1, most}) {
    for (int r = 0; r < most; ++r) keys[r] = static_cast<Word>(0x9e3779b97f4a7c15 * (r + 1));
    std::vector<Word> expected(20 * n);
    for (int i = 0; i < 20 * n; ++i) states[i] = expected[i] = static_cast<Word>(0xd1342543de82ef95 * (i + 1));
    for (int i = 0; i < n; ++i) {
      Word words[20];
      for (int w = 0; w < 20; ++w) words[w] = expected[w * n + i];
      rounds(words, static_cast<const Word*>(keys), count);
      for (int w = 0; w < 20; ++w) expected[w * n + i] = words[w];
    }
    hash_kernel<Word><<<(n + 95) / 96, 96>>>(states, keys, n, count);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 20 * n; ++i) EXPECT_EQUAL_AT(i, states[i], expected[i]);
  }
}

CASE(rounds_of_more_words_than_registers) {
  hash<unsigned long long>();
  hash<unsigned>();
  hash<unsigned short>();
}

CHECK_MAIN()
