// Events: when they are done, what they measure. Oracle: "CUDA Runtime API", Event Management.

#include "api.h"

static void sleep_20_ms(void*) {
  check::Gate::pause(20);
}

CASE(create_record_synchronize) {
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaEventCreate(&event));
  EXPECT(event != nullptr);
  CUDA_OK(cudaEventQuery(event));  // never recorded: nothing to wait for
  CUDA_OK(cudaEventSynchronize(event));
  check::Gate gate;
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  gate.close(stream);
  CUDA_OK(cudaEventRecord(event, stream));
  EXPECT(gate.holds(stream));
  EXPECT_CUDA(cudaEventQuery(event), cudaErrorNotReady);
  gate.release();
  CUDA_OK(cudaEventSynchronize(event));
  CUDA_OK(cudaEventQuery(event));
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(elapsed_time) {
  cudaEvent_t start = nullptr, end = nullptr;
  CUDA_OK(cudaEventCreate(&start));
  CUDA_OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  float milliseconds = -1;
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaEventRecord(start, nullptr));
  CUDA_OK(cudaLaunchHostFunc(nullptr, sleep_20_ms, nullptr));
  CUDA_OK(cudaEventRecordWithFlags(end, nullptr, cudaEventRecordDefault));
  CUDA_OK(cudaEventSynchronize(end));
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 19.0f && milliseconds < 5000.0f);
  EXPECT_CUDA(cudaEventElapsedTime(nullptr, start, end), cudaErrorInvalidValue);
  CUDA_OK(cudaEventDestroy(start));
  CUDA_OK(cudaEventDestroy(end));
}

CASE(elapsed_time_of_an_event_that_is_not_done) {
  cudaEvent_t start = nullptr, end = nullptr;
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreate(&start));
  CUDA_OK(cudaEventCreate(&end));
  CUDA_OK(cudaEventRecord(start, stream));
  check::Gate gate;
  gate.close(stream);
  CUDA_OK(cudaEventRecord(end, stream));
  float milliseconds = -1;
  EXPECT(gate.holds(stream));
  CUDA_OK(cudaEventQuery(start));
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorNotReady);
  gate.release();
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 9.0f);  // the gate held for 10 ms
  CUDA_OK(cudaEventDestroy(start));
  CUDA_OK(cudaEventDestroy(end));
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(no_times_without_timing) {
  cudaEvent_t start = nullptr, end = nullptr;
  CUDA_OK(cudaEventCreateWithFlags(&start, cudaEventDisableTiming));
  CUDA_OK(cudaEventCreate(&end));
  CUDA_OK(cudaEventRecord(start));
  CUDA_OK(cudaEventRecord(end));
  CUDA_OK(cudaEventSynchronize(end));
  float milliseconds = -1;
  EXPECT_CUDA(cudaEventElapsedTime(&milliseconds, start, end), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaEventDestroy(start));
  CUDA_OK(cudaEventDestroy(end));
}

CASE(recording_again_counts_anew) {
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr;
  CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CUDA_OK(cudaEventCreate(&event));
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaEventSynchronize(event));
  check::Gate gate;
  gate.close(stream);
  CUDA_OK(cudaEventRecord(event, stream));
  EXPECT(gate.holds(stream));
  EXPECT_CUDA(cudaEventQuery(event), cudaErrorNotReady);
  gate.release();
  CUDA_OK(cudaEventSynchronize(event));
  CUDA_OK(cudaEventQuery(event));
  CUDA_OK(cudaEventDestroy(event));
  CUDA_OK(cudaStreamDestroy(stream));
}

CASE(refusals) {
  cudaEvent_t event = nullptr;
  EXPECT_CUDA(cudaEventCreate(static_cast<cudaEvent_t*>(nullptr)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, 0x700), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaEventRecord(nullptr, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventQuery(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventSynchronize(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  CUDA_OK(cudaEventCreate(&event));
  EXPECT_CUDA(cudaEventRecordWithFlags(event, nullptr, 0x70), cudaErrorInvalidValue);
  CUDA_OK(cudaEventDestroy(event));
}

CHECK_MAIN()
