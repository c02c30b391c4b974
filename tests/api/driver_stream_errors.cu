// What the driver refuses of streams, events, stream capture and stream memory operations.
// Oracle: "CUDA Driver API", Stream, Event and Stream Memory Management: the "Returns" of each function, and
// "CUDA C++ Programming Guide", Prohibited and Unhandled Operations (of stream capture).

#include "driver_objects.h"

namespace {

/// Ends a capture that an error has made invalid.
void expect_invalidated(CUstream stream) {
  CUgraph graph = nullptr;
  EXPECT_CUDA(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT(graph == nullptr);
}

void nothing(void*) {}

}  // namespace

CASE(streams) {
  Stream stream;
  CUstream made = nullptr;
  CUdevice device = 0;
  CUcontext context = nullptr;
  EXPECT_CUDA(cuStreamCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamCreate(&made, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamCreateWithPriority(nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamCreateWithPriority(&made, 0x80, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetPriority(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetFlags(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetId(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetDevice(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetCtx(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamWaitEvent(stream, nullptr, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuStreamAddCallback(stream, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  const auto callback = [](CUstream, CUresult, void*) {};
  EXPECT_CUDA(cuStreamAddCallback(stream, callback, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuLaunchHostFunc(stream, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamGetCtx(stream, &context));
  CU_OK(cuStreamGetDevice(stream, &device));
}

CASE(attributes_of_streams) {
  Stream stream;
  CUstreamAttrValue value = {};
  const auto unknown = static_cast<CUstreamAttrID>(99);
  EXPECT_CUDA(cuStreamGetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetAttribute(stream, unknown, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamSetAttribute(stream, unknown, &value), CUDA_ERROR_INVALID_VALUE);
}

CASE(events) {
  Stream stream;
  Event first, second, untimed(CU_EVENT_DISABLE_TIMING);
  CUevent made = nullptr;
  float milliseconds = 0;
  EXPECT_CUDA(cuEventCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuEventCreate(&made, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuEventCreate(&made, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);        // needs DISABLE_TIMING
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, first, second), CUDA_ERROR_INVALID_HANDLE);  // not recorded
  CU_OK(cuEventRecord(first, stream));
  CU_OK(cuEventRecord(untimed, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, first, untimed), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventElapsedTime(nullptr, first, first), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuEventRecordWithFlags(first, stream, 0x80), CUDA_ERROR_INVALID_VALUE);
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  CU_OK(cuEventRecord(second, stream));
  EXPECT(gate.holds(stream));
  EXPECT_CUDA(cuEventQuery(second), CUDA_ERROR_NOT_READY);
  EXPECT_CUDA(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, first, second), CUDA_ERROR_NOT_READY);
  gate.release();
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuEventElapsedTime(&milliseconds, first, second));
  CU_OK(cuStreamQuery(stream));
}

CASE(beginning_and_ending_captures) {
  Stream stream;
  CUgraph graph = nullptr;
  const auto unknown = static_cast<CUstreamCaptureMode>(77);
  EXPECT_CUDA(cuStreamBeginCapture(stream, unknown), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamBeginCapture(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_GLOBAL),
              CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_CUDA(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT_CUDA(cuStreamIsCapturing(stream, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamGetCaptureInfo(stream, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuThreadExchangeStreamCaptureMode(nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_ERROR_ILLEGAL_STATE);
  CU_OK(cuStreamEndCapture(stream, nullptr));  // the graph is not wanted. Oracle: an H200 (driver 580)
  EXPECT_CUDA(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT(graph == nullptr);
}

CASE(capturing_into_a_graph) {
  Stream stream;
  CUgraph graph = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  const auto mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  EXPECT_CUDA(cuStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, mode), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 1, mode), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
  CU_OK(cuStreamBeginCaptureToGraph(stream, graph, nullptr, nullptr, 0, mode));
  EXPECT_CUDA(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, 0x80), CUDA_ERROR_INVALID_VALUE);
  CUgraph ended = nullptr;
  CU_OK(cuStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  CU_OK(cuGraphDestroy(graph));
}

// What asks a captured stream for an answer makes the capture invalid.
CASE(operations_that_end_a_capture) {
  Event event;
  CUresult (*const operations[])(CUstream) = {cuStreamSynchronize, cuStreamQuery};
  for (auto operation : operations) {
    Stream stream;
    CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU_OK(cuLaunchHostFunc(stream, nothing, nullptr));
    EXPECT_CUDA(operation(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    EXPECT_CUDA(cuLaunchHostFunc(stream, nothing, nullptr), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    expect_invalidated(stream);
  }
  CUresult (*const questions[])(CUevent) = {cuEventSynchronize, cuEventQuery};
  for (auto question : questions) {
    Stream stream;
    CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU_OK(cuLaunchHostFunc(stream, nothing, nullptr));
    CU_OK(cuEventRecord(event, stream));
    EXPECT_CUDA(question(event), CUDA_ERROR_CAPTURED_EVENT);
    expect_invalidated(stream);
  }
}

// "Any calls that could wait for the captured streams, unless the mode is relaxed", which allocations and
// synchronisation of the context are.
CASE(unsafe_calls_while_a_thread_captures) {
  Stream stream;
  CUdeviceptr memory = 0;
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CUDA(cuMemAlloc(&memory, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalidated(stream);
}

CASE(a_capture_that_another_thread_ends) {
  Stream stream;
  CUgraph graph = nullptr;
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  std::thread([&] {
    check::use_context();
    CUgraph of_other = nullptr;
    EXPECT_CUDA(cuStreamEndCapture(stream, &of_other), CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  }).join();
  // It is over all the same. Oracle: an H200 (driver 580).
  EXPECT_CUDA(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
  EXPECT(graph == nullptr);
}

CASE(a_fork_that_is_not_joined) {
  Stream origin, fork;
  Event event;
  CUgraph graph = nullptr;
  CU_OK(cuStreamBeginCapture(origin, CU_STREAM_CAPTURE_MODE_RELAXED));
  CU_OK(cuEventRecord(event, origin));
  CU_OK(cuStreamWaitEvent(fork, event, 0));
  CU_OK(cuLaunchHostFunc(fork, nothing, nullptr));
  EXPECT_CUDA(cuStreamEndCapture(fork, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  EXPECT_CUDA(cuStreamEndCapture(origin, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);  // by the call before
}

CASE(stream_memory_operations) {
  Stream stream;
  Memory memory(16);
  const unsigned bad = 0x7000;
  EXPECT_CUDA(cuStreamWriteValue32(stream, memory + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue32(stream, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue32(stream, memory, 1, bad), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue64(stream, memory + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWriteValue64(stream, memory, 1, bad), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWaitValue32(stream, memory + 2, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWaitValue32(stream, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWaitValue32(stream, memory, 0, bad), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWaitValue64(stream, memory + 4, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamWaitValue64(stream, memory, 0, bad), CUDA_ERROR_INVALID_VALUE);
  CUstreamBatchMemOpParams unknown = {};
  unknown.operation = static_cast<CUstreamBatchMemOpType>(99);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 1, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 1, &unknown, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamBatchMemOp(stream, 257, &unknown, 0), CUDA_ERROR_INVALID_VALUE);  // at most 256
  CU_OK(cuStreamSynchronize(stream));
}

CHECK_MAIN()
