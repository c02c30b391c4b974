// The last error of a thread, errors that break the context, and what codes are called. Each case has its own process.
// Oracle: "CUDA Runtime API", Error Handling, and the descriptions of cudaError_t.

#include "api.h"

CASE(last_error_is_kept_until_read) {
  EXPECT_CUDA(cudaGetLastError(), cudaSuccess);
  EXPECT_CUDA(cudaSetDevice(9999), cudaErrorInvalidDevice);
  CUDA_OK(cudaFree(nullptr));  // success does not clear it
  EXPECT_CUDA(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaGetLastError(), cudaSuccess);
}

CASE(last_error_belongs_to_the_thread) {
  EXPECT_CUDA(cudaSetDevice(9999), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_CUDA(cudaPeekAtLastError(), cudaSuccess); }).join();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidDevice);
}

CASE(names_and_descriptions) {
  EXPECT(std::strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
  EXPECT(std::strcmp(cudaGetErrorName(static_cast<cudaError_t>(123456)), "unrecognized error code") == 0);
  EXPECT(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(123456)), "unrecognized error code") == 0);
}

__global__ void trap_kernel() {
  __trap();
}

__global__ void nothing_kernel() {}

CASE(failed_launch_is_reported_once_and_breaks_nothing) {
  nothing_kernel<<<1, 4096>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorInvalidValue);
  nothing_kernel<<<1, 32>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaSuccess);
  CUDA_OK(cudaDeviceSynchronize());
}

CASE(fault_in_a_kernel_sticks) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaEventCreate(&event));
  trap_kernel<<<1, 1, 0, stream>>>();
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  void* memory = nullptr;
  EXPECT_CUDA(cudaMalloc(&memory, 16), cudaErrorLaunchFailure);
  EXPECT_CUDA(cudaEventRecord(event, stream), cudaErrorLaunchFailure);
  EXPECT_CUDA(cudaStreamQuery(stream), cudaErrorLaunchFailure);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_CUDA(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_CUDA(cudaGetLastError(), cudaSuccess);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorLaunchFailure);  // reading it does not mend the context
}

// "cudaStreamAddCallback": callbacks that are reached after an error are given it.
CASE(callback_after_a_fault_gets_its_error) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  static std::atomic<int> calls{0};
  static std::atomic<cudaError_t> status{cudaSuccess};
  check::Gate gate;
  gate.close(stream);
  trap_kernel<<<1, 1, 0, stream>>>();
  const auto callback = [](cudaStream_t, cudaError_t given, void* count) {
    status = given;
    ++*static_cast<std::atomic<int>*>(count);
  };
  CUDA_OK(cudaStreamAddCallback(stream, callback, &calls, 0));
  EXPECT(gate.holds(stream));
  EXPECT_EQUAL(calls.load(), 0);
  gate.release();
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
  for (int i = 0; i < 5000 && calls == 0; ++i) check::Gate::pause(1);
  EXPECT_EQUAL(calls.load(), 1);
  EXPECT_CUDA(status.load(), cudaErrorLaunchFailure);
}

// "cudaErrorNoDevice: no CUDA-capable devices were detected". "If the variable is set to an empty string, no GPU
// devices are visible."
CASE(calls_without_a_device) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  int count = 7, least = 0;
  void* memory = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaGetDeviceCount(&count), cudaErrorNoDevice);
  EXPECT_CUDA(cudaMalloc(&memory, 16), cudaErrorNoDevice);
  EXPECT_CUDA(cudaMallocHost(&memory, 16), cudaErrorNoDevice);
  size_t free = 0, total = 0;
  EXPECT_CUDA(cudaMemGetInfo(&free, &total), cudaErrorNoDevice);
  EXPECT_CUDA(cudaStreamCreate(&stream), cudaErrorNoDevice);
  EXPECT_CUDA(cudaEventCreate(&event), cudaErrorNoDevice);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorNoDevice);
  EXPECT_CUDA(cudaDeviceGetStreamPriorityRange(&least, nullptr), cudaErrorNoDevice);
  nothing_kernel<<<1, 1>>>();
  EXPECT_CUDA(cudaGetLastError(), cudaErrorNoDevice);
}

// "CUDA C++ Programming Guide": CUDA cannot be used in a child of a process that has initialised it.
CASE(child_of_fork_gets_an_error) {
  void* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, 16));
  const pid_t child = fork();
  if (child == 0) {
    EXPECT_CUDA(cudaMalloc(&memory, 16), cudaErrorInitializationError);
    EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorInitializationError);
    EXPECT_CUDA(cudaFree(memory), cudaErrorInitializationError);
    nothing_kernel<<<1, 1>>>();
    EXPECT_CUDA(cudaGetLastError(), cudaErrorInitializationError);
    _exit(check::failures() ? 1 : 0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQUAL(status, 0);
  CUDA_OK(cudaFree(memory));  // the parent is as it was
}

CHECK_ISOLATED_MAIN()
