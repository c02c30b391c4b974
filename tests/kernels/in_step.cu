// What threads of a warp that run in step must not notice; each kernel takes that rung unless CUPOLA_RUNG says
// otherwise or it would not fit. Expectations follow from the kernels by hand.

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
  if constexpr (Times > 0) {
    atomicCAS(number, end + Times, end + Times - 1);
    count_down<Times - 1>(number, end);
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

CHECK_MAIN()

// Warp w leaves after w + 1 phases, its odd lanes a phase before the even ones. Who is left sees what all who were there
// wrote before the barrier, and how many voted.
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
