// The same calls compiled for per-thread default streams (--default-stream per-thread): stream 0 of two threads are two
// streams, and neither waits for the other.
// Oracle: "CUDA Runtime API", API synchronization behavior, per-thread default stream.

#include "api.h"

__global__ void add_kernel(int* at, int value) {
  *at += value;
}

CASE(default_streams_of_two_threads_are_independent) {
  int* values = nullptr;
  CUDA_OK(cudaMallocHost(&values, 2 * sizeof(int)));
  values[0] = values[1] = 0;
  add_kernel<<<1, 1>>>(values, 0);  // loading a kernel, and the first use of a stream, may wait for all streams
  CUDA_OK(cudaStreamSynchronize(nullptr));
  check::Gate gate;
  std::atomic<bool> ready{false}, closed{false};
  std::thread other([&] {
    add_kernel<<<1, 1>>>(values + 1, 0);
    CUDA_OK(cudaStreamSynchronize(nullptr));
    ready = true;
    while (!closed) check::Gate::pause(1);
    add_kernel<<<1, 1>>>(values + 1, 2);
    CUDA_OK(cudaStreamSynchronize(nullptr));
    EXPECT_EQUAL(values[1], 2);
  });
  while (!ready) check::Gate::pause(1);
  gate.close(nullptr);
  add_kernel<<<1, 1>>>(values, 1);
  closed = true;
  other.join();
  EXPECT(gate.holds(nullptr));  // while the other thread's stream has ended
  EXPECT_EQUAL(values[0], 0);
  gate.release();
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQUAL(values[0], 1);
  CUDA_OK(cudaStreamQuery(nullptr));
  CUDA_OK(cudaFreeHost(values));
}

CASE(copies_and_fills) {
  unsigned char* memory = nullptr;
  unsigned char host[64] = {}, back[64] = {};
  for (int i = 0; i < 64; ++i) host[i] = static_cast<unsigned char>(i);
  CUDA_OK(cudaMallocAsync(&memory, 64, nullptr));
  CUDA_OK(cudaMemcpy(memory, host, 64, cudaMemcpyHostToDevice));
  CUDA_OK(cudaMemsetAsync(memory, 200, 32, nullptr));
  CUDA_OK(cudaMemset2D(memory + 32, 16, 100, 8, 1));
  CUDA_OK(cudaMemcpyAsync(back, memory, 64, cudaMemcpyDeviceToHost, nullptr));
  CUDA_OK(cudaFreeAsync(memory, nullptr));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  for (int i = 0; i < 64; ++i) EXPECT_EQUAL_AT(i, int{back[i]}, i < 32 ? 200 : i < 40 ? 100 : i);
}

CASE(events_and_callbacks) {
  cudaEvent_t start = nullptr, end = nullptr;
  CUDA_OK(cudaEventCreate(&start));
  CUDA_OK(cudaEventCreate(&end));
  check::Gate gate;
  CUDA_OK(cudaEventRecord(start, nullptr));
  gate.close(nullptr);
  CUDA_OK(cudaEventRecord(end, nullptr));
  EXPECT(gate.holds(nullptr));  // for 10 ms at least
  EXPECT_CUDA(cudaEventQuery(start), cudaSuccess);
  EXPECT_CUDA(cudaEventQuery(end), cudaErrorNotReady);
  gate.release();
  CUDA_OK(cudaEventSynchronize(end));
  CUDA_OK(cudaEventQuery(end));
  float milliseconds = 0;
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 9.0f);
  CUDA_OK(cudaEventDestroy(start));
  CUDA_OK(cudaEventDestroy(end));
}

static void add_one(cudaStream_t, cudaError_t status, void* at) {
  if (status == cudaSuccess) ++*static_cast<int*>(at);
}

CASE(stream_zero_is_the_threads_own_in_every_call) {
  cudaStream_t held = nullptr;
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreate(&event));
  int called = 0;
  {
    check::Gate gate;
    gate.close(held);
    CUDA_OK(cudaEventRecordWithFlags(event, held, cudaEventRecordDefault));
    CUDA_OK(cudaStreamWaitEvent(nullptr, event, 0));
    CUDA_OK(cudaStreamAddCallback(nullptr, add_one, &called, 0));
    EXPECT(gate.holds(nullptr));
    EXPECT(gate.holds(cudaStreamPerThread));
    EXPECT_EQUAL(called, 0);
    std::thread([] { CUDA_OK(cudaStreamQuery(nullptr)); }).join();  // another thread's is another
    gate.release();
    CUDA_OK(cudaStreamSynchronize(nullptr));
  }
  EXPECT_EQUAL(called, 1);
  unsigned long long own = 0, named = 1, of_other = 0;
  CUDA_OK(cudaStreamGetId(nullptr, &own));
  CUDA_OK(cudaStreamGetId(cudaStreamPerThread, &named));
  std::thread([&] { CUDA_OK(cudaStreamGetId(nullptr, &of_other)); }).join();
  EXPECT_EQUAL(own, named);
  EXPECT(own != of_other);
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaStreamDestroy(held));
}

CASE(what_stream_zero_is) {
  unsigned flags = 99, named_flags = 98;
  int priority = 99, device = -1;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  CUDA_OK(cudaStreamGetFlags(nullptr, &flags));
  CUDA_OK(cudaStreamGetFlags(cudaStreamPerThread, &named_flags));
  EXPECT_EQUAL(flags, named_flags);
  CUDA_OK(cudaStreamGetPriority(nullptr, &priority));
  EXPECT_EQUAL(priority, 0);
  CUDA_OK(cudaStreamGetDevice(nullptr, &device));
  EXPECT_EQUAL(device, 0);
  CUDA_OK(cudaStreamIsCapturing(nullptr, &capture));
  EXPECT(capture == cudaStreamCaptureStatusNone);
  void* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 256));
  CUDA_OK(cudaStreamAttachMemAsync(nullptr, managed, 0, cudaMemAttachGlobal));
  EXPECT_CUDA(cudaStreamAttachMemAsync(nullptr, managed, 0, 0x77), cudaErrorInvalidValue);
  CUDA_OK(cudaStreamSynchronize(nullptr));
  CUDA_OK(cudaFree(managed));
}

CHECK_MAIN()
