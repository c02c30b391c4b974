// Events of two processes. Oracle: "CUDA Runtime API, Device Management": cudaIpcGetEventHandle and relatives, which
// the driver has too: "after the event has been opened in the importing process, cudaEventRecord, cudaEventSynchronize,
// cudaStreamWaitEvent and cudaEventQuery may be used in either process".

#include <cuda.h>

#include "child.h"
#include "streams.h"

namespace {

/// The child's half; the number says which step failed.
int answer(const check::Way& parent) {
  cudaIpcEventHandle_t handle;
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr, waiting = nullptr;
  if (!parent.receive(handle)) return 10;
  if (cudaIpcOpenEventHandle(&event, handle) != cudaSuccess) return 11;
  CUipcEventHandle same;
  CUevent again = nullptr;
  std::memcpy(&same, &handle, sizeof same);
  if (cuIpcOpenEventHandle(&again, same) != CUDA_SUCCESS || cuEventQuery(again) != CUDA_ERROR_NOT_READY) return 19;
  if (cudaStreamCreate(&stream) != cudaSuccess || cudaStreamCreate(&waiting) != cudaSuccess) return 12;
  // The parent has recorded it behind a gate.
  if (cudaEventQuery(event) != cudaErrorNotReady) return 13;
  (void)cudaGetLastError();
  if (cudaStreamWaitEvent(waiting, event, 0) != cudaSuccess) return 14;
  check::Gate::pause(30);
  if (cudaStreamQuery(waiting) != cudaErrorNotReady) return 15;
  (void)cudaGetLastError();
  if (!parent.tell()) return 16;  // it opens the gate
  if (cudaEventSynchronize(event) != cudaSuccess || cudaEventQuery(event) != cudaSuccess) return 17;
  if (cudaStreamSynchronize(waiting) != cudaSuccess) return 18;
  // The other way round: this process records.
  {
    check::Gate gate;
    gate.close(stream);
    if (cudaEventRecord(event, stream) != cudaSuccess || cudaEventQuery(event) != cudaErrorNotReady) return 20;
    (void)cudaGetLastError();
    if (cuEventQuery(again) != CUDA_ERROR_NOT_READY) return 26;
    if (!parent.tell() || !parent.hear()) return 21;
    gate.release();
    if (cuEventSynchronize(again) != CUDA_SUCCESS) return 27;
    if (cudaEventSynchronize(event) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess) return 22;
  }
  if (!parent.hear()) return 23;
  // "This function returns an event that behaves like a locally created event with cudaEventDisableTiming."
  float time = 0;
  if (cudaEventElapsedTime(&time, event, event) == cudaSuccess) return 24;
  (void)cudaGetLastError();
  return cudaEventDestroy(event) == cudaSuccess && cuEventDestroy(again) == CUDA_SUCCESS ? 0 : 25;
}

}  // namespace

CASE(an_event_of_two_processes) {
  const check::Child child(answer);
  Stream stream, waiting;
  cudaEvent_t event = nullptr;
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming | cudaEventInterprocess));
  cudaIpcEventHandle_t handle;
  CUDA_OK(cudaIpcGetEventHandle(&handle, event));
  CUipcEventHandle of_driver = {};
  EXPECT_CUDA(cuIpcGetEventHandle(&of_driver, event), CUDA_SUCCESS);
  CUDA_OK(cudaEventQuery(event));  // never recorded
  {
    check::Gate gate;
    gate.close(stream);
    CUDA_OK(cudaEventRecord(event, stream));
    EXPECT_CUDA(cudaEventQuery(event), cudaErrorNotReady);
    (void)cudaGetLastError();
    EXPECT(child->send(handle));
    EXPECT(child->hear());
    gate.release();
    CUDA_OK(cudaEventSynchronize(event));
    CUDA_OK(cudaStreamSynchronize(stream));
  }
  EXPECT(child->hear());  // the child has recorded it behind a gate
  EXPECT_CUDA(cudaEventQuery(event), cudaErrorNotReady);
  (void)cudaGetLastError();
  CUDA_OK(cudaStreamWaitEvent(waiting, event, 0));
  check::Gate::pause(30);
  EXPECT_CUDA(cudaStreamQuery(waiting), cudaErrorNotReady);
  (void)cudaGetLastError();
  EXPECT(child->tell());
  CUDA_OK(cudaEventSynchronize(event));
  CUDA_OK(cudaStreamSynchronize(waiting));
  EXPECT(child->tell());
  EXPECT_EQUAL(child.ended(), 0);
  CUDA_OK(cudaEventDestroy(event));
}

CASE(event_handles_refuse) {
  cudaEvent_t event = nullptr, opened = nullptr;
  cudaIpcEventHandle_t handle = {};
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);  // with timing
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_CUDA(cudaIpcGetEventHandle(&handle, event), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaIpcGetEventHandle(nullptr, event), cudaErrorInvalidValue);
  CUipcEventHandle same = {};
  EXPECT_CUDA(cuIpcGetEventHandle(&same, event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cudaIpcOpenEventHandle(nullptr, handle), cudaErrorInvalidValue);
  EXPECT_CUDA(cuIpcOpenEventHandle(nullptr, same), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cudaIpcOpenEventHandle(&opened, handle), cudaErrorMapBufferObjectFailed);  // no handle of anybody's
  EXPECT_CUDA(cuIpcOpenEventHandle(&opened, same), CUDA_ERROR_MAP_FAILED);
  (void)cudaGetLastError();
  CUDA_OK(cudaEventDestroy(event));
}

CHECK_ISOLATED_MAIN()
