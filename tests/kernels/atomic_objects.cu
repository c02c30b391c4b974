// cuda::atomic and cuda::atomic_ref on the device and on the host. Oracle: totals that any order of the operations
// gives, and what "libcu++, Synchronization Primitives" and [atomics.types] of C++ say of each operation.

#include <cooperative_groups.h>

#include <cuda/atomic>
#include <cuda/barrier>

#include "check.h"

constexpr int kBlocks = 8, kThreads = 96, kCount = kBlocks * kThreads;

struct Counters {
  cuda::atomic<unsigned, cuda::thread_scope_device> total{0}, bits{0}, least{~0u}, most{0};
  cuda::atomic<unsigned long long, cuda::thread_scope_system> wide{1ull << 40};
  cuda::atomic<float, cuda::thread_scope_device> sum{0.5f};
  cuda::atomic<int*, cuda::thread_scope_device> place{nullptr};
  cuda::atomic<unsigned short> narrow{0};
};

__global__ void count(Counters* counters) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  counters->total.fetch_add(2, cuda::memory_order_relaxed);
  ++counters->total;
  counters->bits |= 1u << (i % 32);
  counters->least.fetch_min(i + 7);
  counters->most.fetch_max(i + 7, cuda::std::memory_order_acq_rel);
  counters->wide -= 1;
  counters->sum.fetch_add(0.25f);
  counters->place++;
  unsigned short seen = counters->narrow.load();
  while (!counters->narrow.compare_exchange_weak(seen, static_cast<unsigned short>(seen + 3))) {
  }
}

CASE(operations_of_all_threads) {
  check::Managed<Counters> counters(1);
  new (&counters[0]) Counters;
  int places[1];
  counters[0].place = places;
  count<<<kBlocks, kThreads>>>(counters);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(counters[0].total.load(), 3u * kCount);
  EXPECT_EQUAL(counters[0].bits.load(), ~0u);
  EXPECT_EQUAL(counters[0].least.load(), 7u);
  EXPECT_EQUAL(counters[0].most.load(), kCount + 6u);
  EXPECT_EQUAL(counters[0].wide.load(), (1ull << 40) - kCount);
  EXPECT_EQUAL(counters[0].sum.load(), 0.5f + 0.25f * kCount);
  EXPECT_EQUAL(static_cast<long long>(counters[0].place.load() - places), static_cast<long long>(kCount));
  EXPECT_EQUAL(counters[0].narrow.load(), static_cast<unsigned short>(3 * kCount));
}

__global__ void through_reference(int* values, int* results) {
  __shared__ int inside;
  if (threadIdx.x == 0) inside = 100;
  __syncthreads();
  cuda::atomic_ref<int, cuda::thread_scope_block> shared(inside);
  shared.fetch_sub(1);
  cuda::atomic_thread_fence(cuda::memory_order_seq_cst, cuda::thread_scope_block);
  __syncthreads();
  if (threadIdx.x != 0) return;
  results[0] = shared;
  cuda::atomic_ref<int> one(values[0]);
  results[1] = one.exchange(5);
  int expected = 4;
  results[2] = one.compare_exchange_strong(expected, 9);
  results[3] = expected;  // what was there instead
  results[4] = one.compare_exchange_strong(expected, 9);
  results[5] = one ^= 3;
  results[6] = one--;
  one = 77;
}

CASE(references) {
  check::Managed<int> values(1), results(7);
  values[0] = -1;
  through_reference<<<1, 64>>>(values, results);
  CUDA_OK(cudaDeviceSynchronize());
  const int expected[] = {100 - 64, -1, 0, 5, 1, 9 ^ 3, 9 ^ 3};
  for (int i = 0; i < 7; ++i) EXPECT_EQUAL(results[i], expected[i]);
  EXPECT_EQUAL(values[0], 77);
}

/// Each thread of the block reads what its neighbour wrote before the barrier, in three phases.
__global__ void rotate(int* values) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int places[kThreads];
  auto block = cooperative_groups::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  block.sync();
  cuda::memcpy_async(block, places, values + blockIdx.x * kThreads, sizeof places, barrier);
  barrier.arrive_and_wait();
  for (int phase = 0; phase < 3; ++phase) {
    const int next = places[(threadIdx.x + 1) % kThreads];
    barrier.arrive_and_wait();
    places[threadIdx.x] = next;
    auto token = barrier.arrive();
    barrier.wait(static_cast<decltype(token)&&>(token));
  }
  values[blockIdx.x * kThreads + threadIdx.x] = places[threadIdx.x];
}

CASE(barriers_of_a_block) {
  check::Managed<int> values(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i;
  rotate<<<kBlocks, kThreads>>>(values);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < kCount; ++i)
    EXPECT_EQUAL_AT(i, values[i], i / kThreads * kThreads + (i % kThreads + 3) % kThreads);
}

CASE(on_the_host) {
  cuda::atomic<int> value(3);
  EXPECT_EQUAL(value.fetch_add(4), 3);
  EXPECT_EQUAL(value += 2, 9);
  int seen = 0;
  EXPECT(!value.compare_exchange_strong(seen, 1));
  EXPECT_EQUAL(seen, 9);
  cuda::std::atomic<long long> wide(1ll << 50);
  EXPECT_EQUAL(--wide, (1ll << 50) - 1);
  value.wait(8);  // it is 9
  EXPECT(value.is_lock_free());
}

CHECK_MAIN()
