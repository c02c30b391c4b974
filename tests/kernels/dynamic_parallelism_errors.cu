// What goes wrong when kernels launch kernels, and what kernels ask of the runtime (-rdc=true). Oracle: "CUDA C++
// Programming Guide, CUDA Dynamic Parallelism" and the CUDA Runtime API's cudaError_t; the host's answers to the same
// questions.

#include <cassert>

#include "check.h"

__global__ void count_up(unsigned* counter) {
  atomicAdd(counter, 1u);
}

__global__ void __launch_bounds__(64) count_in_small_blocks(unsigned* counter) {
  atomicAdd(counter, 1u);
}

__global__ void launch_badly(unsigned* counter, int* errors) {
  count_up<<<1, 1025>>>(counter);
  errors[0] = cudaPeekAtLastError();
  errors[1] = cudaGetLastError();
  errors[2] = cudaGetLastError();
  count_up<<<0, 1>>>(counter);
  errors[3] = cudaGetLastError();
  count_up<<<1, dim3(1, 1, 65)>>>(counter);
  errors[4] = cudaGetLastError();
  count_up<<<1, 1, 64 * 1024 * 1024>>>(counter);
  errors[5] = cudaGetLastError();
  count_up<<<1, 7>>>(counter);  // none of these stick
  errors[6] = cudaGetLastError();
}

CASE(launches_beyond_the_limits_are_errors_of_the_thread) {
  check::Managed<unsigned> counter(1);
  check::Managed<int> errors(7);
  launch_badly<<<1, 1>>>(counter, errors);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i : {0, 1, 3, 4, 5}) EXPECT_EQUAL_AT(i, errors[i], static_cast<int>(cudaErrorInvalidConfiguration));
  EXPECT_EQUAL(errors[2], 0);
  EXPECT_EQUAL(errors[6], 0);
  EXPECT_EQUAL(counter[0], 7u);
}

__global__ void ask_for_a_large_buffer(bool* is_null, int* errors) {
  *is_null = cudaGetParameterBuffer(64, SIZE_MAX - 100) == nullptr;
  errors[0] = cudaGetLastError();
}

CASE(parameter_buffers_beyond_memory_are_null) {
  check::Managed<bool> is_null(1);
  check::Managed<int> errors(1);
  ask_for_a_large_buffer<<<1, 1>>>(is_null, errors);
  CUDA_OK(cudaDeviceSynchronize());
  const check::Unrecorded because("CUDA gives a buffer");
  EXPECT(is_null[0]);
  EXPECT_EQUAL(errors[0], static_cast<int>(cudaErrorMemoryAllocation));
}

__global__ void launch_beyond_bounds(unsigned* counter, int* errors) {
  count_in_small_blocks<<<1, 65>>>(counter);
  errors[0] = cudaGetLastError();
  count_in_small_blocks<<<1, 64>>>(counter);
  errors[1] = cudaGetLastError();
}

CASE(launch_bounds_hold) {
  check::Managed<unsigned> counter(1);
  check::Managed<int> errors(2);
  launch_beyond_bounds<<<1, 1>>>(counter, errors);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(errors[0], static_cast<int>(cudaErrorInvalidConfiguration));
  EXPECT_EQUAL(errors[1], 0);
  EXPECT_EQUAL(counter[0], 64u);
}

__global__ void odd_threads_err(unsigned* counter, int* errors) {
  if (threadIdx.x % 2) count_up<<<1, 4096>>>(counter);
  __syncthreads();
  errors[threadIdx.x] = cudaGetLastError();
}

CASE(each_thread_has_its_own_last_error) {
  check::Managed<unsigned> counter(1);
  check::Managed<int> errors(64);
  odd_threads_err<<<1, 64>>>(counter, errors);
  CUDA_OK(cudaDeviceSynchronize());
  for (int i = 0; i < 64; ++i)
    EXPECT_EQUAL_AT(i, errors[i], i % 2 ? static_cast<int>(cudaErrorInvalidConfiguration) : 0);
}

__global__ void leave_an_error(unsigned* counter, int* error) {
  *error |= cudaPeekAtLastError();
  count_up<<<1, 4096>>>(counter);
}

CASE(a_thread_begins_without_an_error) {
  check::Managed<unsigned> counter(1);
  check::Managed<int> error(1);
  leave_an_error<<<500, 2>>>(counter, error);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(error[0], 0);
}

__global__ void launch_many_tails(unsigned* counter, int launches, int* accepted, int* refused) {
  for (int i = 0; i < launches; ++i) {
    count_up<<<1, 1, 0, cudaStreamTailLaunch>>>(counter);
    const int error = cudaGetLastError();
    *accepted += error == cudaSuccess;
    *refused += error == cudaErrorLaunchPendingCountExceeded;
  }
}

CASE(more_pending_launches_than_the_limit) {
  constexpr int kLaunches = 100000;
  check::Managed<unsigned> counter(1);
  check::Managed<int> counts(2);
  size_t limit = 0;
  CUDA_OK(cudaDeviceGetLimit(&limit, cudaLimitDevRuntimePendingLaunchCount));
  EXPECT_EQUAL(limit, 2048u);
  for (int turn = 1; turn <= 2; ++turn) {  // the second time there is room again
    counts[0] = counts[1] = 0;
    counter[0] = 0;
    launch_many_tails<<<1, 1>>>(counter, kLaunches, counts, counts + 1);
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT(counts[0] >= 2048);
    EXPECT(counts[1] > 0);
    EXPECT_EQUAL(counts[0] + counts[1], kLaunches);
    const check::Unrecorded because("so many as come to the end meanwhile make room");
    EXPECT_EQUAL(counter[0], static_cast<unsigned>(counts[0]));
  }
}

__global__ void descend(int* errors, int depth) {
  if (depth == 40) return;
  descend<<<1, 1>>>(errors, depth + 1);
  errors[depth] = cudaGetLastError();
}

CASE(launches_deeper_than_24_levels) {
  check::Managed<int> errors(40);
  for (int i = 0; i < 40; ++i) errors[i] = -1;
  descend<<<1, 1>>>(errors, 0);
  CUDA_OK(cudaDeviceSynchronize());
  const check::Unrecorded because("CUDA 13 has no such limit");
  for (int i = 0; i < 24; ++i) EXPECT_EQUAL_AT(i, errors[i], 0);
  EXPECT_EQUAL(errors[24], static_cast<int>(cudaErrorLaunchMaxDepthExceeded));
  for (int i = 25; i < 40; ++i) EXPECT_EQUAL_AT(i, errors[i], -1);
}

__global__ void misuse_streams(int* errors) {
  cudaStream_t stream;
  cudaEvent_t event;
  errors[0] = cudaStreamCreateWithFlags(&stream, cudaStreamDefault);
  errors[1] = cudaEventCreateWithFlags(&event, cudaEventDefault);
  errors[2] = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  errors[3] = cudaEventRecord(event, cudaStreamFireAndForget);
  errors[4] = cudaStreamWaitEvent(cudaStreamFireAndForget, event, 0);
  errors[5] = cudaEventRecord(event, cudaStreamTailLaunch);
  errors[6] = cudaStreamWaitEvent(cudaStreamTailLaunch, event, 0);
  errors[7] = cudaEventDestroy(event);
}

CASE(streams_and_events_that_the_device_does_not_have) {
  check::Managed<int> errors(8);
  misuse_streams<<<1, 1>>>(errors);
  CUDA_OK(cudaDeviceSynchronize());
  const check::Unrecorded because("CUDA does not tell each");
  for (int i : {0, 1, 3, 4, 5, 6}) EXPECT_EQUAL_AT(i, errors[i], static_cast<int>(cudaErrorInvalidValue));
  for (int i : {2, 7}) EXPECT_EQUAL_AT(i, errors[i], 0);
}

// ---- faults ----

__global__ void store_one(int* at) {
  *at = 1;
}

__global__ void launch_store(int* at, unsigned* counter, int depth) {
  if (depth == 0)
    store_one<<<1, 1>>>(at);
  else
    launch_store<<<1, 1>>>(at, counter, depth - 1);
  count_up<<<1, 1, 0, cudaStreamTailLaunch>>>(counter);
}

CASE(a_child_s_fault_is_the_context_s) {
  check::Managed<unsigned> counter(1);
  launch_store<<<1, 1>>>(nullptr, counter, 0);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  void* memory = nullptr;
  EXPECT_CUDA(cudaMalloc(&memory, 16), cudaErrorIllegalAddress);  // it sticks
}

CASE(a_fault_of_a_child_s_child) {
  check::Managed<unsigned> counter(1);
  launch_store<<<1, 1>>>(nullptr, counter, 3);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

__global__ void assert_small(int value) {
  assert(value < 10);
}

__global__ void launch_assert(int value) {
  assert_small<<<1, 1>>>(value);
}

CASE(an_assertion_in_a_child) {
  launch_assert<<<1, 1>>>(9);
  CUDA_OK(cudaDeviceSynchronize());
  launch_assert<<<1, 1>>>(10);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorAssert);
}

// ---- questions ----

struct Answers {
  int device, devices, version, warp_size, threads, blocks, none;
  size_t heap, pending;
  cudaFuncAttributes attributes;
  char name[64], text[64];
  int errors;
};

__device__ void copy_text(char* to, const char* from) {
  for (int i = 0; i < 63 && from[i]; ++i) to[i] = from[i];
}

__global__ void ask(Answers* answers) {
  Answers& a = *answers;
  a.errors = cudaGetDevice(&a.device);
  a.errors |= cudaGetDeviceCount(&a.devices);
  a.errors |= cudaRuntimeGetVersion(&a.version);
  a.errors |= cudaDeviceGetAttribute(&a.warp_size, cudaDevAttrWarpSize, a.device);
  a.errors |= cudaDeviceGetAttribute(&a.threads, cudaDevAttrMaxThreadsPerBlock, a.device);
  a.errors |= cudaDeviceGetLimit(&a.heap, cudaLimitMallocHeapSize);
  a.errors |= cudaDeviceGetLimit(&a.pending, cudaLimitDevRuntimePendingLaunchCount);
  a.errors |= cudaFuncGetAttributes(&a.attributes, count_in_small_blocks);
  a.errors |= cudaOccupancyMaxActiveBlocksPerMultiprocessor(&a.blocks, count_in_small_blocks, 64, 1000);
  a.none = cudaGetLastError();
  copy_text(a.name, cudaGetErrorName(cudaErrorLaunchMaxDepthExceeded));
  copy_text(a.text, cudaGetErrorString(cudaErrorInvalidResourceHandle));
}

CASE(the_device_s_answers_are_the_host_s) {
  check::Managed<Answers> answers(1);
  CUDA_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
  ask<<<1, 1>>>(answers);
  CUDA_OK(cudaDeviceSynchronize());
  const Answers& a = answers[0];
  const check::Unrecorded because("they are the device's and its runtime's");
  EXPECT_EQUAL(a.errors, 0);
  EXPECT_EQUAL(a.none, 0);
  int number = -1;
  size_t bytes = 0;
  EXPECT_EQUAL(a.device, 0);
  CUDA_OK(cudaGetDeviceCount(&number));
  EXPECT_EQUAL(a.devices, number);
  EXPECT_EQUAL(a.version, CUDART_VERSION);
  EXPECT_EQUAL(a.warp_size, 32);
  EXPECT_EQUAL(a.threads, 1024);
  CUDA_OK(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
  EXPECT_EQUAL(a.heap, bytes);
  CUDA_OK(cudaDeviceGetLimit(&bytes, cudaLimitDevRuntimePendingLaunchCount));
  EXPECT_EQUAL(a.pending, bytes);
  cudaFuncAttributes attributes;
  CUDA_OK(cudaFuncGetAttributes(&attributes, count_in_small_blocks));
  EXPECT_EQUAL(a.attributes.maxThreadsPerBlock, 64);
  EXPECT_EQUAL(a.attributes.numRegs, attributes.numRegs);
  EXPECT_EQUAL(a.attributes.sharedSizeBytes, attributes.sharedSizeBytes);
  EXPECT_EQUAL(a.attributes.binaryVersion, attributes.binaryVersion);
  CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&number, count_in_small_blocks, 64, 1000));
  EXPECT_EQUAL(a.blocks, number);
  EXPECT(std::strcmp(a.name, "cudaErrorLaunchMaxDepthExceeded") == 0);
  EXPECT(std::strcmp(a.text, cudaGetErrorString(cudaErrorInvalidResourceHandle)) == 0);
}

__global__ void use_heap(int* result) {
  int* memory = nullptr;
  result[0] = cudaMalloc(&memory, 100 * sizeof(int));
  memory[99] = 1;
  result[1] = cudaFree(memory);
  result[2] = cudaMalloc(&memory, size_t{1} << 40);
  result[3] = cudaGetLastError();
}

CASE(memory_of_the_device_s_heap) {
  check::Managed<int> result(4);
  use_heap<<<1, 1>>>(result);
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(result[0], 0);
  EXPECT_EQUAL(result[1], 0);
  EXPECT_EQUAL(result[2], static_cast<int>(cudaErrorMemoryAllocation));
  EXPECT_EQUAL(result[3], static_cast<int>(cudaErrorMemoryAllocation));
}

CHECK_ISOLATED_MAIN()
