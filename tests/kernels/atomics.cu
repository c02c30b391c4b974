// Atomic operations on global, shared and generic addresses. Oracle: totals and sets that any order of the operations
// gives, and the definitions in the CUDA C++ Programming Guide, "Atomic Functions".

#include <algorithm>

#include "check.h"

constexpr int kBlocks = 8, kThreads = 128, kCount = kBlocks * kThreads;

template <typename T>
__global__ void add_kernel(T* total, T* old_values) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  old_values[i] = atomicAdd(total, static_cast<T>(i % 3 + 1));
}

template <typename T>
void add_case() {
  check::Managed<T> total(1), old_values(kCount);
  total[0] = static_cast<T>(10);
  add_kernel<T><<<kBlocks, kThreads>>>(total, old_values);
  CUDA_OK(cudaDeviceSynchronize());
  T expected = static_cast<T>(10);
  for (int i = 0; i < kCount; ++i) expected += static_cast<T>(i % 3 + 1);
  EXPECT_EQUAL(total[0], expected);  // exact in float too: the sums are small integers
  // The values that were there before are distinct: every operation was one step.
  std::vector<T> sorted(&old_values[0], &old_values[0] + kCount);
  std::sort(sorted.begin(), sorted.end());
  EXPECT(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end());
}

CASE(add_of_every_type) {
  add_case<int>();
  add_case<unsigned>();
  add_case<unsigned long long>();
  add_case<float>();
  add_case<double>();
}

template <typename T>
__global__ void order_kernel(T* least, T* most, const T* values) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicMin(least, values[i]);
  atomicMax(most, values[i]);
}

template <typename T>
void order_case() {
  check::Managed<T> values(kCount), least(1), most(1);
  for (int i = 0; i < kCount; ++i)
    values[i] = static_cast<T>(static_cast<T>(i * 2654435761u) * static_cast<T>(0x9E3779B97F4A7C15ull));
  least[0] = most[0] = values[0];
  order_kernel<T><<<kBlocks, kThreads>>>(least, most, values);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(least[0], *std::min_element(&values[0], &values[0] + kCount));
  EXPECT_EQUAL(most[0], *std::max_element(&values[0], &values[0] + kCount));
}

CASE(min_and_max_of_every_type) {
  order_case<int>();
  order_case<unsigned>();
  order_case<long long>();
  order_case<unsigned long long>();
}

__global__ void bits_kernel(unsigned* words, unsigned long long* longs) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAnd(&words[0], ~(1u << (i % 32) & 0x0f0f0f0fu));
  atomicOr(&words[1], 1u << (i % 30));
  atomicXor(&words[2], static_cast<unsigned>(i) * 0x01010101u);
  atomicAnd(&longs[0], ~(1ull << (i % 64) & 0x00ff00ff00ff00ffull));
  atomicOr(&longs[1], 1ull << (i % 60));
  atomicXor(&longs[2], static_cast<unsigned long long>(i) << 20);
}

CASE(bitwise) {
  check::Managed<unsigned> words(3);
  check::Managed<unsigned long long> longs(3);
  words[0] = ~0u;
  longs[0] = ~0ull;
  bits_kernel<<<kBlocks, kThreads>>>(words, longs);
  CUDA_OK(cudaDeviceSynchronize());
  unsigned mixed = 0;
  unsigned long long mixed_long = 0;
  for (int i = 0; i < kCount; ++i) {
    mixed ^= static_cast<unsigned>(i) * 0x01010101u;
    mixed_long ^= static_cast<unsigned long long>(i) << 20;
  }
  EXPECT_EQUAL(words[0], 0xf0f0f0f0u);
  EXPECT_EQUAL(words[1], (1u << 30) - 1);
  EXPECT_EQUAL(words[2], mixed);
  EXPECT_EQUAL(longs[0], 0xff00ff00ff00ff00ull);
  EXPECT_EQUAL(longs[1], (1ull << 60) - 1);
  EXPECT_EQUAL(longs[2], mixed_long);
}

__global__ void wrap_kernel(unsigned* up, unsigned* down) {
  atomicInc(up, 9);    // ((old >= 9) ? 0 : old + 1)
  atomicDec(down, 9);  // (((old == 0) || (old > 9)) ? 9 : old - 1)
}

CASE(increment_and_decrement_wrap) {
  check::Managed<unsigned> up(1), down(1);
  down[0] = 20;
  wrap_kernel<<<kBlocks, kThreads>>>(up, down);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(up[0], kCount % 10u);
  unsigned expected = 20;
  for (int i = 0; i < kCount; ++i) expected = expected == 0 || expected > 9 ? 9 : expected - 1;
  EXPECT_EQUAL(down[0], expected);
}

__global__ void exchange_kernel(unsigned long long* slot, unsigned long long* seen) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  seen[i] = atomicExch(slot, static_cast<unsigned long long>(i + 1));
}

CASE(exchange_loses_nothing) {
  check::Managed<unsigned long long> slot(1), seen(kCount);
  exchange_kernel<<<kBlocks, kThreads>>>(slot, seen);
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<unsigned long long> all(&seen[0], &seen[0] + kCount);
  all.push_back(slot[0]);
  std::sort(all.begin(), all.end());
  for (int i = 0; i <= kCount; ++i) EXPECT_EQUAL_AT(i, all[i], i);
}

__device__ double atomic_multiply(double* address, double factor) {
  auto* bits = reinterpret_cast<unsigned long long*>(address);
  unsigned long long old = *bits, assumed;
  do {
    assumed = old;
    old = atomicCAS(bits, assumed,
                    static_cast<unsigned long long>(__double_as_longlong(factor * __longlong_as_double(assumed))));
  } while (assumed != old);
  return __longlong_as_double(old);
}

__global__ void multiply_kernel(double* product) {
  atomic_multiply(product, threadIdx.x % 2 ? 2.0 : 0.5);
}

__global__ void cas_kernel(int* winner, int* winners) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (atomicCAS(winner, -1, i) == -1) atomicAdd(winners, 1);
}

CASE(compare_and_swap) {
  check::Managed<double> product(1);
  product[0] = 3;
  multiply_kernel<<<kBlocks, kThreads>>>(product);
  check::Managed<int> winner(1), winners(1);
  winner[0] = -1;
  cas_kernel<<<kBlocks, kThreads>>>(winner, winners);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(product[0], 3.0);
  EXPECT_EQUAL(winners[0], 1);
  EXPECT(winner[0] >= 0 && winner[0] < kCount);
}

__device__ void add_through(int* anywhere, int value) {
  atomicAdd(anywhere, value);
}

__global__ void generic_kernel(int* out) {
  __shared__ int shared_sum;
  __shared__ float float_sum;
  int* chosen = threadIdx.x % 2 ? &shared_sum : out;  // a generic pointer to either space
  if (threadIdx.x == 0) shared_sum = 0, float_sum = 0;
  __syncthreads();
  add_through(chosen, threadIdx.x);
  atomicAdd(&float_sum, 0.5f);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[1] = shared_sum;
    out[2] = static_cast<int>(float_sum);
  }
}

// Sums of float flush denormals in global memory and do not in shared memory (PTX ISA, "atom"; an H200 does so).
__global__ void denormal_kernel(const float* values, unsigned* out) {
  __shared__ float in_shared;
  const float value = values[threadIdx.x];
  in_shared = 0;
  out[0] = out[2] = 0;
  float* const in_global = reinterpret_cast<float*>(out);
  atomicAdd(in_global, value);
  atomicAdd(&in_shared, value);
  out[1] = __float_as_uint(in_shared);
  float* const chosen = values[1] != 0 ? &in_shared : in_global + 2;
  atomicAdd(chosen, value);
  out[3] = __float_as_uint(in_shared);
}

CASE(sums_of_denormals) {
  check::Managed<float> values(2);
  check::Managed<unsigned> out(4);
  for (const float in_shared : {0.0f, 1.0f}) {
    values[0] = 0x1p-149f;
    values[1] = in_shared;
    denormal_kernel<<<1, 1>>>(values, out);
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT_EQUAL(out[0], 0u);
    EXPECT_EQUAL(out[1], 1u);
    EXPECT_EQUAL(out[2], 0u);
    EXPECT_EQUAL(out[3], in_shared != 0 ? 2u : 1u);
  }
}

CASE(shared_and_generic_addresses) {
  check::Managed<int> out(3);
  generic_kernel<<<1, 128>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(out[0], 64 * 63);
  EXPECT_EQUAL(out[1], 64 * 64);
  EXPECT_EQUAL(out[2], 64);
}

__global__ void scoped_kernel(int* sums) {
  atomicAdd_block(&sums[0], 1);
  atomicAdd_system(&sums[1], 1);
}

CASE(scoped) {
  check::Managed<int> sums(2);
  scoped_kernel<<<1, kThreads>>>(sums);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(sums[0], kThreads);
  EXPECT_EQUAL(sums[1], kThreads);
}

CHECK_MAIN()
