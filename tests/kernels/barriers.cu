// Block barriers and shared memory. Oracle: host loops; what barriers must do is in the CUDA C++ Programming Guide,
// "Synchronization Functions".

#include "check.h"

__global__ void reverse_kernel(int* data) {
  __shared__ int tile[256];
  tile[threadIdx.x] = data[blockIdx.x * 256 + threadIdx.x];
  __syncthreads();
  data[blockIdx.x * 256 + threadIdx.x] = tile[255 - threadIdx.x];
}

CASE(static_shared_memory) {
  check::Managed<int> data(1024);
  for (int i = 0; i < 1024; ++i) data[i] = i * 7;
  reverse_kernel<<<4, 256>>>(data);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 1024; ++i) EXPECT_EQUAL_AT(i, data[i], (i / 256 * 256 + 255 - i % 256) * 7);
}

extern __shared__ double dynamic[];

__global__ void dynamic_kernel(double* out, int n) {
  __shared__ int fixed[33];
  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = i * 0.5;
  if (threadIdx.x < 33) fixed[threadIdx.x] = threadIdx.x;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[blockIdx.x * n + i] = dynamic[n - 1 - i] + fixed[i % 33];
}

CASE(dynamic_shared_memory) {
  for (int n : {1, 100, 2000}) {
    check::Managed<double> out(3 * n);
    dynamic_kernel<<<3, 64, n * sizeof(double)>>>(out, n);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3 * n; ++i) EXPECT_EQUAL_AT(i, out[i], (n - 1 - i % n) * 0.5 + i % n % 33);
  }
}

__global__ void early_exit_kernel(int* out) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  if (threadIdx.x >= 100) return;  // exited threads do not hold the others back
  atomicAdd(&sum, threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = sum;
}

CASE(threads_that_left_do_not_hold_barriers) {
  check::Managed<int> out(100);
  early_exit_kernel<<<1, 160>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 100; ++i) EXPECT_EQUAL_AT(i, out[i], 4950);
}

__global__ void loop_kernel(unsigned* out, int rounds) {
  __shared__ unsigned ring[96];
  ring[threadIdx.x] = threadIdx.x;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    unsigned next = ring[(threadIdx.x + 1) % 96] * 3 + i;
    __syncthreads();
    ring[threadIdx.x] = next;
  }
  out[threadIdx.x] = ring[threadIdx.x];
}

CASE(barriers_in_loops) {
  check::Managed<unsigned> out(96);
  loop_kernel<<<1, 96>>>(out, 50);
  CUDA_OK(cudaDeviceSynchronize());
  std::vector<unsigned> ring(96), next(96);
  for (unsigned i = 0; i < 96; ++i) ring[i] = i;
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 96; ++i) next[i] = ring[(i + 1) % 96] * 3 + round;
    ring = next;
  }
  for (int i = 0; i < 96; ++i) EXPECT_EQUAL_AT(i, out[i], ring[i]);
}

__global__ void reducing_kernel(int* out) {
  int t = threadIdx.x;
  out[t * 3] = __syncthreads_count(t % 3 == 0);
  out[t * 3 + 1] = __syncthreads_and(t < 70);
  out[t * 3 + 2] = __syncthreads_or(t == 69);
}

CASE(reducing_barriers) {
  check::Managed<int> out(70 * 3);
  reducing_kernel<<<1, 70>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int t = 0; t < 70; ++t) {
    EXPECT_EQUAL_AT(t, out[t * 3], 24);
    EXPECT_EQUAL_AT(t, out[t * 3 + 1] != 0, true);
    EXPECT_EQUAL_AT(t, out[t * 3 + 2] != 0, true);
  }
}

// Two kernels whose static shared variables may overlap, and a function that both call.
__device__ int shared_total(int value) {
  __shared__ int total;
  if (threadIdx.x == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, value);
  __syncthreads();
  return total;
}

__global__ void first_kernel(int* out) {
  __shared__ int big[3000];
  big[threadIdx.x] = threadIdx.x;
  int total = shared_total(1);
  out[threadIdx.x] = total + big[threadIdx.x];
}

__global__ void second_kernel(int* out) {
  __shared__ short other[5000];
  other[threadIdx.x] = 2 * threadIdx.x;
  int total = shared_total(2);
  out[threadIdx.x] = total + other[threadIdx.x];
}

// A warp produces for the other three, two buffers ahead: PTX ISA, "bar", has the pattern.
__global__ void producer_kernel(unsigned* out, int rounds) {
  __shared__ unsigned buffers[2][32];
  if (threadIdx.x < 32) {
    for (int round = 0; round < rounds; ++round) {
      const int which = round & 1;
      asm volatile("bar.sync %0, 128;" ::"r"(3 + which) : "memory");  // it is free
      buffers[which][threadIdx.x] = round * 1000 + threadIdx.x;
      asm volatile("bar.arrive %0, 128;" ::"r"(1 + which) : "memory");  // it is full
    }
  } else {
    unsigned sum = 0;
    asm volatile("bar.arrive 3, 128;" ::: "memory");
    asm volatile("bar.arrive 4, 128;" ::: "memory");
    for (int round = 0; round < rounds; ++round) {
      const int which = round & 1;
      asm volatile("bar.sync %0, 128;" ::"r"(1 + which) : "memory");
      sum = sum * 3 + buffers[which][threadIdx.x & 31];
      if (round + 2 < rounds) asm volatile("bar.arrive %0, 128;" ::"r"(3 + which) : "memory");
    }
    out[threadIdx.x - 32] = sum;
  }
}

CASE(a_part_of_a_block_arrives_and_others_wait) {
  check::Managed<unsigned> out(96);
  const int rounds = 7;
  producer_kernel<<<1, 128>>>(out, rounds);
  CUDA_OK(cudaDeviceSynchronize());
  for (unsigned i = 0; i < 96; ++i) {
    unsigned sum = 0;
    for (int round = 0; round < rounds; ++round) sum = sum * 3 + round * 1000 + i % 32;
    EXPECT_EQUAL_AT(i, out[i], sum);
  }
}

CASE(shared_variables_of_functions) {
  check::Managed<int> out(64);
  first_kernel<<<1, 64>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], 64 + i);
  second_kernel<<<1, 64>>>(out);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, out[i], 128 + 2 * i);
}

CHECK_MAIN()
