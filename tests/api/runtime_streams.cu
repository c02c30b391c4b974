// Streams: order within one, independence of two, callbacks, the default streams.
// Oracle: "CUDA Runtime API", Stream Management, and "API synchronization behavior" on the default streams.

#include "api.h"

__global__ void add_kernel(int* at, int value) {
  *at = *at * 10 + value;
}

CASE(create_and_destroy) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  EXPECT(stream != nullptr);
  unsigned flags = 99;
  CUDA_OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQUAL(flags, cudaStreamDefault);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamGetFlags(stream, &flags));
  EXPECT_EQUAL(flags, cudaStreamNonBlocking);
  CUDA_OK(cudaStreamDestroy(stream));
  EXPECT_CUDA(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamCreateWithFlags(&stream, 0x80), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
}

CASE(priorities_are_clamped) {
  int least = 0, greatest = 0, priority = 99;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest - 10));
  CUDA_OK(cudaStreamGetPriority(stream, &priority));
  EXPECT_EQUAL(priority, greatest);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaStreamCreateWithPriority(&stream, cudaStreamDefault, least));
  CUDA_OK(cudaStreamGetPriority(stream, &priority));
  EXPECT_EQUAL(priority, least);
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(identity) {
  cudaStream_t a = nullptr, b = nullptr;
  CUDA_OK(cudaStreamCreate(&a));
  CUDA_OK(cudaStreamCreate(&b));
  unsigned long long id_a = 0, id_b = 0, again = 0;
  CUDA_OK(cudaStreamGetId(a, &id_a));
  CUDA_OK(cudaStreamGetId(b, &id_b));
  CUDA_OK(cudaStreamGetId(a, &again));
  EXPECT(id_a != id_b);
  EXPECT_EQUAL(again, id_a);
  int device = -1;
  CUDA_OK(cudaStreamGetDevice(a, &device));
  EXPECT_EQUAL(device, 0);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  CUDA_OK(cudaStreamIsCapturing(a, &status));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusNone);
  CUDA_OK(cudaStreamDestroy(a));
  CUDA_OK(cudaStreamDestroy(b));
}

CASE(work_of_one_stream_is_in_order) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  check::Managed<int> value(1);
  for (int digit = 1; digit < 7; ++digit) add_kernel<<<1, 1, 0, stream>>>(value, digit);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(value[0], 123456);
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(query_says_not_ready_while_work_waits) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaStreamQuery(stream));
  check::Gate gate;
  gate.close(stream);
  EXPECT(gate.holds(stream));
  gate.release();
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaStreamQuery(stream));
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(streams_do_not_wait_for_each_other) {
  cudaStream_t held = nullptr, free = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking));
  int* value = nullptr;
  CUDA_OK(cudaMallocHost(&value, sizeof(int)));
  *value = 0;
  check::Gate gate;
  gate.close(held);
  add_kernel<<<1, 1, 0, free>>>(value, 8);
  CUDA_OK(cudaStreamSynchronize(free));
  EXPECT_EQUAL(*value, 8);
  EXPECT(gate.holds(held));
  gate.release();
  CUDA_OK(cudaStreamSynchronize(held));
  CUDA_OK(cudaStreamDestroy(held));
  CUDA_OK(cudaStreamDestroy(free));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaFreeHost(value));
}

CASE(wait_event_orders_two_streams) {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  CUDA_OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  int* value = nullptr;
  CUDA_OK(cudaMallocHost(&value, sizeof(int)));
  *value = 0;
  check::Gate gate;
  gate.close(first);
  add_kernel<<<1, 1, 0, first>>>(value, 1);
  CUDA_OK(cudaEventRecord(event, first));
  CUDA_OK(cudaStreamWaitEvent(second, event, 0));
  add_kernel<<<1, 1, 0, second>>>(value, 2);
  EXPECT(gate.holds(second));
  EXPECT_EQUAL(*value, 0);
  gate.release();
  CUDA_OK(cudaStreamSynchronize(second));
  EXPECT_EQUAL(*value, 12);
  EXPECT_CUDA(cudaStreamWaitEvent(second, event, 0x70), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamWaitEvent(second, nullptr, 0), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaStreamDestroy(first));
  CUDA_OK(cudaStreamDestroy(second));
  CUDA_OK(cudaDeviceSynchronize());
  CUDA_OK(cudaFreeHost(value));
}

namespace {

struct Called {
  std::atomic<int> count{0};
  cudaStream_t stream = nullptr;
  cudaError_t status = cudaErrorUnknown;
  int* seen = nullptr;
  int value = 0;
};

void called(cudaStream_t stream, cudaError_t status, void* data) {
  auto* record = static_cast<Called*>(data);
  record->stream = stream;
  record->status = status;
  record->value = *record->seen;
  ++record->count;
}

void host_function(void* data) {
  auto* record = static_cast<Called*>(data);
  record->value = *record->seen;
  ++record->count;
}

}  // namespace

CASE(callbacks_run_in_stream_order) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  int* value = nullptr;
  CUDA_OK(cudaMallocHost(&value, sizeof(int)));
  *value = 0;
  Called callback, function;
  callback.seen = function.seen = value;
  add_kernel<<<1, 1, 0, stream>>>(value, 4);
  CUDA_OK(cudaStreamAddCallback(stream, called, &callback, 0));
  add_kernel<<<1, 1, 0, stream>>>(value, 5);
  CUDA_OK(cudaLaunchHostFunc(stream, host_function, &function));
  add_kernel<<<1, 1, 0, stream>>>(value, 6);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(callback.count.load(), 1);
  EXPECT_CUDA(callback.status, cudaSuccess);
  EXPECT(callback.stream == stream);
  EXPECT_EQUAL(callback.value, 4);
  EXPECT_EQUAL(function.count.load(), 1);
  EXPECT_EQUAL(function.value, 45);
  EXPECT_EQUAL(*value, 456);
  EXPECT_CUDA(cudaStreamAddCallback(stream, called, &callback, 7), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamAddCallback(stream, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFreeHost(value));
}

// "cudaLaunchHostFunc": "The host function must not make any CUDA API calls. Attempting to use a CUDA API may result in
// cudaErrorNotPermitted, but this is not required." "cudaStreamAddCallback" says the same of callbacks. A call that
// waits for the stream would wait for ever.
CASE(host_functions_and_callbacks_may_not_call_the_api) {
  struct Tried {
    void* memory = nullptr;
    cudaError_t free = cudaSuccess, synchronize = cudaSuccess, launch = cudaSuccess;
    void run() {
      free = cudaFree(memory);
      synchronize = cudaDeviceSynchronize();
      add_kernel<<<1, 1>>>(static_cast<int*>(memory), 1);
      launch = cudaGetLastError();  // no call of the device
    }
  } function, callback;
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  CUDA_OK(cudaMalloc(&function.memory, 16));
  callback.memory = function.memory;
  CUDA_OK(cudaLaunchHostFunc(stream, [](void* tried) { static_cast<Tried*>(tried)->run(); }, &function));
  CUDA_OK(cudaStreamAddCallback(
      stream, [](cudaStream_t, cudaError_t, void* tried) { static_cast<Tried*>(tried)->run(); }, &callback, 0));
  CUDA_OK(cudaStreamSynchronize(stream));
  for (const Tried& tried : {function, callback}) {
    EXPECT_CUDA(tried.free, cudaErrorNotPermitted);
    EXPECT_CUDA(tried.synchronize, cudaErrorNotPermitted);
    EXPECT_CUDA(tried.launch, cudaErrorNotPermitted);
  }
  CUDA_OK(cudaFree(function.memory));  // it was not freed
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(legacy_stream_waits_for_blocking_streams_only) {
  cudaStream_t blocking = nullptr, independent = nullptr;
  CUDA_OK(cudaStreamCreate(&blocking));
  CUDA_OK(cudaStreamCreateWithFlags(&independent, cudaStreamNonBlocking));
  char* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, 16));
  {
    check::Gate gate;
    gate.close(independent);
    CUDA_OK(cudaMemsetAsync(memory, 1, 16, cudaStreamLegacy));
    CUDA_OK(cudaStreamSynchronize(cudaStreamLegacy));
    EXPECT(gate.holds(independent));
    gate.release();
    CUDA_OK(cudaStreamSynchronize(independent));
  }
  {
    check::Gate gate;
    gate.close(blocking);
    CUDA_OK(cudaMemsetAsync(memory, 2, 16, cudaStreamLegacy));
    EXPECT(gate.holds(cudaStreamLegacy));
    gate.release();
    CUDA_OK(cudaStreamSynchronize(nullptr));
    CUDA_OK(cudaStreamQuery(blocking));
  }
  EXPECT(check::all_bytes(memory, 16, 2));
  CUDA_OK(cudaFree(memory));
  CUDA_OK(cudaStreamDestroy(blocking));
  CUDA_OK(cudaStreamDestroy(independent));
}

CASE(per_thread_stream_handle) {
  int* value = nullptr;
  CUDA_OK(cudaMallocHost(&value, sizeof(int)));
  *value = 0;
  add_kernel<<<1, 1, 0, cudaStreamPerThread>>>(value, 3);
  CUDA_OK(cudaStreamSynchronize(cudaStreamPerThread));
  EXPECT_EQUAL(*value, 3);
  CUDA_OK(cudaFreeHost(value));
}

CASE(destroy_lets_submitted_work_finish) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  int* value = nullptr;
  CUDA_OK(cudaMallocHost(&value, sizeof(int)));
  *value = 0;
  check::Gate gate;
  gate.close(stream);
  add_kernel<<<1, 1, 0, stream>>>(value, 9);
  EXPECT(gate.holds(stream));
  CUDA_OK(cudaStreamDestroy(stream));
  EXPECT_EQUAL(*value, 0);  // it did not wait
  gate.release();
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(*value, 9);
  CUDA_OK(cudaFreeHost(value));
}

CASE(attach_memory) {
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreate(&stream));
  int* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 64));
  CUDA_OK(cudaStreamAttachMemAsync(stream, managed, 0, cudaMemAttachSingle));
  CUDA_OK(cudaStreamSynchronize(stream));
  managed[0] = 0;
  add_kernel<<<1, 1, 0, stream>>>(managed, 6);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(managed[0], 6);
  EXPECT_CUDA(cudaStreamAttachMemAsync(stream, managed, 0, 0x77), cudaErrorInvalidValue);
  CUDA_OK(cudaStreamDestroy(stream));
  CUDA_OK(cudaFree(managed));
}

CHECK_MAIN()
