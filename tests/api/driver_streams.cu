// Streams and events of the driver API. Oracle: "CUDA Driver API", Stream Management, Event Management.

#include "driver_objects.h"

CASE(create_flags_priority_identity) {
  CUcontext context = check::use_context(), of = nullptr;
  CUstream a = nullptr, b = nullptr;
  CU_OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamCreateWithPriority(&b, CU_STREAM_DEFAULT, -1000));
  unsigned flags = 99;
  CU_OK(cuStreamGetFlags(a, &flags));
  EXPECT_EQUAL(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamGetFlags(b, &flags));
  EXPECT_EQUAL(flags, static_cast<unsigned>(CU_STREAM_DEFAULT));
  int least = 0, greatest = 0, priority = 99;
  CU_OK(cuCtxGetStreamPriorityRange(&least, &greatest));
  CU_OK(cuStreamGetPriority(b, &priority));
  EXPECT_EQUAL(priority, greatest);
  unsigned long long id_a = 0, id_b = 0;
  CU_OK(cuStreamGetId(a, &id_a));
  CU_OK(cuStreamGetId(b, &id_b));
  EXPECT(id_a != id_b);
  CU_OK(cuStreamGetCtx(a, &of));
  EXPECT(of == context);
  CUdevice device = -1;
  CU_OK(cuStreamGetDevice(a, &device));
  EXPECT_EQUAL(device, check::the_device());
  CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_ACTIVE;
  CU_OK(cuStreamIsCapturing(a, &capture));
  EXPECT_EQUAL(capture, CU_STREAM_CAPTURE_STATUS_NONE);
  CU_OK(cuStreamDestroy(a));
  CU_OK(cuStreamDestroy(b));
  EXPECT_CUDA(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamCreate(&a, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}

CASE(query_and_synchronize) {
  check::use_context();
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamQuery(stream));
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  EXPECT(gate.holds(stream));
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  gate.release();
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuStreamQuery(stream));
  EXPECT_CUDA(cuLaunchHostFunc(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamDestroy(stream));
}

namespace {

struct Called {
  CUstream stream = nullptr;
  CUresult status = CUDA_ERROR_UNKNOWN;
  int count = 0;
};

void called(CUstream stream, CUresult status, void* data) {
  *static_cast<Called*>(data) = {stream, status, static_cast<Called*>(data)->count + 1};
}

}  // namespace

CASE(callback) {
  check::use_context();
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  Called record;
  CU_OK(cuStreamAddCallback(stream, called, &record, 0));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQUAL(record.count, 1);
  EXPECT(record.stream == stream);
  EXPECT_CUDA(record.status, CUDA_SUCCESS);
  EXPECT_CUDA(cuStreamAddCallback(stream, called, &record, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamAddCallback(stream, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamDestroy(stream));
}

// "cuLaunchHostFunc": "The host function must not make any CUDA API calls. Attempting to use a CUDA API may result in
// CUDA_ERROR_NOT_PERMITTED, but this is not required."
CASE(host_functions_may_not_call_the_api) {
  check::use_context();
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CUresult status = CUDA_SUCCESS;
  CU_OK(cuLaunchHostFunc(stream, [](void* to) { *static_cast<CUresult*>(to) = cuCtxSynchronize(); }, &status));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_CUDA(status, CUDA_ERROR_NOT_PERMITTED);
  CU_OK(cuCtxSynchronize());  // another thread's, and its end
  CU_OK(cuStreamDestroy(stream));
}

CASE(wait_event_orders_two_streams) {
  Stream first, second;
  Event event(CU_EVENT_DISABLE_TIMING);
  Memory memory(2);
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(first, check::Gate::wait, &gate));
  CU_OK(cuMemsetD32Async(memory, 5, 1, first));
  CU_OK(cuEventRecord(event, first));
  CU_OK(cuStreamWaitEvent(second, event, 0));
  CU_OK(cuMemcpyDtoDAsync(memory + 4, memory, 4, second));
  EXPECT(gate.holds(second));
  gate.release();
  CU_OK(cuStreamSynchronize(second));
  EXPECT_EQUAL(memory.value(1), 5);
  EXPECT_CUDA(cuStreamWaitEvent(second, event, 0x70), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWaitEvent(second, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
}

CASE(events) {
  check::use_context();
  CUevent start = nullptr, end = nullptr;
  CU_OK(cuEventCreate(&start, CU_EVENT_DEFAULT));
  CU_OK(cuEventCreate(&end, CU_EVENT_BLOCKING_SYNC));
  CU_OK(cuEventQuery(start));
  float milliseconds = -1;
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  CU_OK(cuEventRecord(start, nullptr));
  CU_OK(cuLaunchHostFunc(nullptr, [](void*) { check::Gate::pause(20); }, nullptr));
  CU_OK(cuEventRecordWithFlags(end, nullptr, CU_EVENT_RECORD_DEFAULT));
  EXPECT_CUDA(cuEventQuery(end), CUDA_ERROR_NOT_READY);
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  CU_OK(cuEventSynchronize(end));
  CU_OK(cuEventElapsedTime(&milliseconds, start, end));
  EXPECT(milliseconds >= 19.0f && milliseconds < 5000.0f);
  CU_OK(cuEventDestroy(start));
  CU_OK(cuEventDestroy(end));
}

CASE(event_refusals) {
  check::use_context();
  CUevent event = nullptr;
  EXPECT_CUDA(cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuEventCreate(&event, 0x700), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuEventRecord(nullptr, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventQuery(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventSynchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  CUevent no_timing = nullptr;
  float milliseconds = 0;
  CU_OK(cuEventCreate(&event, CU_EVENT_DEFAULT));
  CU_OK(cuEventCreate(&no_timing, CU_EVENT_DISABLE_TIMING));
  CU_OK(cuEventRecord(event, nullptr));
  CU_OK(cuEventRecord(no_timing, nullptr));
  CU_OK(cuCtxSynchronize());
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, event, no_timing), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventRecordWithFlags(event, nullptr, 0x70), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuEventDestroy(event));
  CU_OK(cuEventDestroy(no_timing));
}

CHECK_MAIN()
