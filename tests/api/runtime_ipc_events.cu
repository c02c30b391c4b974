// Events of two processes. Oracle: "CUDA Runtime API, Device Management": cudaIpcGetEventHandle and relatives, which
// the driver has too: "after the event has been opened in the importing process, cudaEventRecord, cudaEventSynchronize,
// cudaStreamWaitEvent and cudaEventQuery may be used in either process".

#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "streams.h"

namespace {

int to_child[2], to_parent[2];

bool send(int to, const void* bytes, size_t count) {
  return write(to, bytes, count) == static_cast<ssize_t>(count);
}
bool receive(int from, void* bytes, size_t count) {
  return read(from, bytes, count) == static_cast<ssize_t>(count);
}
bool tell(int to) {
  return send(to, "x", 1);
}
bool hear(int from) {
  char mark = 0;
  return receive(from, &mark, 1);
}

/// The child's half; the number says which step failed.
int answer() {
  cudaIpcEventHandle_t handle;
  cudaEvent_t event = nullptr;
  cudaStream_t stream = nullptr, waiting = nullptr;
  if (!receive(to_child[0], &handle, sizeof handle)) return 10;
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
  if (!tell(to_parent[1])) return 16;  // it opens the gate
  if (cudaEventSynchronize(event) != cudaSuccess || cudaEventQuery(event) != cudaSuccess) return 17;
  if (cudaStreamSynchronize(waiting) != cudaSuccess) return 18;
  // The other way round: this process records.
  {
    check::Gate gate;
    gate.close(stream);
    if (cudaEventRecord(event, stream) != cudaSuccess || cudaEventQuery(event) != cudaErrorNotReady) return 20;
    (void)cudaGetLastError();
    if (cuEventQuery(again) != CUDA_ERROR_NOT_READY) return 26;
    if (!tell(to_parent[1]) || !hear(to_child[0])) return 21;
    gate.release();
    if (cuEventSynchronize(again) != CUDA_SUCCESS) return 27;
    if (cudaEventSynchronize(event) != cudaSuccess || cudaStreamSynchronize(stream) != cudaSuccess) return 22;
  }
  if (!hear(to_child[0])) return 23;
  // "This function returns an event that behaves like a locally created event with cudaEventDisableTiming."
  float time = 0;
  if (cudaEventElapsedTime(&time, event, event) == cudaSuccess) return 24;
  (void)cudaGetLastError();
  return cudaEventDestroy(event) == cudaSuccess && cuEventDestroy(again) == CUDA_SUCCESS ? 0 : 25;
}

pid_t child = 0;

/// Before main: a process that has used CUDA must not fork and go on using it.
const bool forked = [] {
  if (pipe(to_child) != 0 || pipe(to_parent) != 0) return false;
  child = fork();
  if (child == 0) _exit(answer());
  return child > 0;
}();

}  // namespace

CASE(an_event_of_two_processes) {
  EXPECT(forked);
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
    EXPECT(send(to_child[1], &handle, sizeof handle));
    EXPECT(hear(to_parent[0]));
    gate.release();
    CUDA_OK(cudaEventSynchronize(event));
    CUDA_OK(cudaStreamSynchronize(stream));
  }
  EXPECT(hear(to_parent[0]));  // the child has recorded it behind a gate
  EXPECT_CUDA(cudaEventQuery(event), cudaErrorNotReady);
  (void)cudaGetLastError();
  CUDA_OK(cudaStreamWaitEvent(waiting, event, 0));
  check::Gate::pause(30);
  EXPECT_CUDA(cudaStreamQuery(waiting), cudaErrorNotReady);
  (void)cudaGetLastError();
  EXPECT(tell(to_child[1]));
  CUDA_OK(cudaEventSynchronize(event));
  CUDA_OK(cudaStreamSynchronize(waiting));
  EXPECT(tell(to_child[1]));
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status));
  EXPECT_EQUAL(WEXITSTATUS(status), 0);
  CUDA_OK(cudaEventDestroy(event));
}

CASE(event_handles_refuse) {
  cudaEvent_t event = nullptr, opened = nullptr;
  cudaIpcEventHandle_t handle = {};
  EXPECT_CUDA(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue);  // with timing
  CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  EXPECT_ONE_OF(cudaIpcGetEventHandle(&handle, event), cudaErrorInvalidResourceHandle, cudaErrorInvalidValue);
  EXPECT_CUDA(cudaIpcGetEventHandle(nullptr, event), cudaErrorInvalidValue);
  CUipcEventHandle same = {};
  EXPECT_ONE_OF(cuIpcGetEventHandle(&same, event), CUDA_ERROR_INVALID_HANDLE, CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cudaIpcOpenEventHandle(nullptr, handle), cudaErrorInvalidValue);
  EXPECT_CUDA(cuIpcOpenEventHandle(nullptr, same), CUDA_ERROR_INVALID_VALUE);
  EXPECT(cudaIpcOpenEventHandle(&opened, handle) != cudaSuccess);  // no handle of anybody's
  (void)cudaGetLastError();
  CUDA_OK(cudaEventDestroy(event));
}

CHECK_MAIN()
