// What goes wrong in a kernel or a launch is reported with the documented code, and sticks where CUDA says it does.
// Oracle: the CUDA Runtime API documentation of cudaError_t, and the CUDA C++ Programming Guide on assertions and
// traps.

#include <cassert>

#include "check.h"

__global__ void store_kernel(int* at) {
  *at = 1;
}

CASE(null_store_is_an_illegal_address_and_sticks) {
  store_kernel<<<1, 1>>>(nullptr);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_CUDA(cudaMalloc(&memory, 16), cudaErrorIllegalAddress);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

CASE(load_from_unmapped_memory) {
  store_kernel<<<2, 64>>>(reinterpret_cast<int*>(0x7000000000ull));
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void assert_kernel(int limit) {
  assert(static_cast<int>(threadIdx.x) < limit);
}

CASE(assertions_that_hold_do_nothing) {
  assert_kernel<<<2, 32>>>(32);
  CUDA_OK(cudaDeviceSynchronize());
}

CASE(failed_assertion) {
  assert_kernel<<<2, 32>>>(31);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorAssert);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorAssert);
}

__global__ void trap_kernel(int at) {
  if (static_cast<int>(threadIdx.x) == at) __trap();
}

CASE(trap) {
  trap_kernel<<<1, 32>>>(32);
  CUDA_OK(cudaDeviceSynchronize());
  trap_kernel<<<1, 32>>>(5);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

__device__ __attribute__((noinline)) int deep(int n, volatile int* sink) {
  volatile int frame[64];
  frame[n % 64] = n;
  *sink = n;
  return deep(n + 1, sink) + frame[(n + 1) % 64];
}

__global__ void endless_recursion_kernel(int* sink) {
  sink[1] = deep(0, sink);
}

// On a GPU this ends as an illegal address or a stack error, by chance of layout; here it is always the stack error.
CASE(endless_recursion_is_a_stack_error) {
  check::Managed<int> sink(2);
  endless_recursion_kernel<<<1, 1>>>(sink);
  const check::Unrecorded because("chance");
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorHardwareStackError);
}

__global__ void empty_kernel() {}

// The code is what the runtime of CUDA 13.0 gives on an H200.
CASE(launches_beyond_the_limits) {
  empty_kernel<<<1, 1025>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  empty_kernel<<<0, 1>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  empty_kernel<<<dim3(1, 65536), 1>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  empty_kernel<<<1, dim3(1, 1, 65)>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  empty_kernel<<<1, 1, 64 * 1024 * 1024>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  empty_kernel<<<1, 1>>>();  // none of these stick
  CUDA_OK(cudaDeviceSynchronize());
}

CASE(bad_arguments) {
  void* memory = nullptr;
  EXPECT_CUDA(cudaMalloc(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMalloc(&memory, size_t{1} << 60), cudaErrorMemoryAllocation);
  CUDA_OK(cudaMalloc(&memory, 16));
  EXPECT_CUDA(cudaFree(static_cast<char*>(memory) + 4), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(memory));
  EXPECT_CUDA(cudaFree(memory), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(nullptr));
  EXPECT_CUDA(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaGetLastError(), cudaSuccess);
}

__global__ void deadlock_kernel() {
  if (threadIdx.x < 16)
    __syncwarp(0xffffffffu);  // the other half of the mask never comes
  else
    __syncthreads();
}

// A GPU hangs or goes on by chance; here it ends with a launch failure that says who waits where.
CASE(a_deadlocked_block_is_an_error_instead_of_a_hang) {
  deadlock_kernel<<<1, 64>>>();
  const check::Unrecorded because("chance");
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// Lanes that left the loop wait at the vote for those that wait for them in it.
__global__ void leaves_a_loop_for_a_vote(int* out) {
  int turns = threadIdx.x, sum = turns;
  for (; turns > 0; --turns) sum += __shfl_xor_sync(~0u, sum, 1);
  out[threadIdx.x] = __all_sync(~0u, sum > 0);
}

CASE(lanes_that_left_a_loop_to_meet_elsewhere_are_waited_for) {
  check::Managed<int> out(32);
  leaves_a_loop_for_a_vote<<<1, 32>>>(out);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// The same at a barrier of the block, to which half of the lanes go at once.
__global__ void goes_to_the_barrier(int* out) {
  int sum = threadIdx.x;
  if (sum < 16) sum += __shfl_xor_sync(~0u, sum, 1);
  __syncthreads();
  out[threadIdx.x] = sum;
}

CASE(lanes_that_wait_at_a_barrier_are_waited_for) {
  check::Managed<int> out(32);
  goes_to_the_barrier<<<1, 32>>>(out);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// The other half goes to the barrier, where the matrix is one of all lanes.
__global__ void transposes_before_the_barrier(unsigned* out) {
  unsigned part = threadIdx.x;
  if (part < 16) asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(part));
  __syncthreads();
  out[threadIdx.x] = part;
}

CASE(a_matrix_waits_for_lanes_that_wait_at_a_barrier) {
  check::Managed<unsigned> out(32);
  transposes_before_the_barrier<<<1, 32>>>(out);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

// Lanes that return from the loop are on their way out, those that break are not.
__global__ void leaves_a_loop_two_ways(const int* turns, int* out) {
  int left = turns[threadIdx.x], sum = threadIdx.x;
  while (true) {
    if (left == 0) return;
    if (left == 100) break;
    sum += __shfl_xor_sync(~0u, sum, 1);
    --left;
  }
  out[threadIdx.x] = __all_sync(~0u, sum >= 0);
}

void leave_two_ways(int lane_0, cudaError_t expected) {
  check::Managed<int> turns(32), out(32);
  for (int i = 0; i < 32; ++i) turns[i] = i / 2;
  turns[0] = lane_0;
  leaves_a_loop_two_ways<<<1, 32>>>(turns, out);
  EXPECT_CUDA(cudaDeviceSynchronize(), expected);
}

CASE(lanes_that_returned_from_a_loop_that_others_leave_to_meet) {
  leave_two_ways(0, cudaSuccess);
  leave_two_ways(1, cudaSuccess);
  leave_two_ways(100, cudaErrorLaunchFailure);
}

CHECK_ISOLATED_MAIN()
