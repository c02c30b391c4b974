// Stream capture of the runtime API. Oracle: "CUDA C++ Programming Guide, Creating a Graph Using Stream Capture" and
// "CUDA Runtime API, Stream Management"; the codes are those that the manuals give for each violation.

#include <thread>

#include "streams.h"

namespace {

void begin(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
  CUDA_OK(cudaStreamBeginCapture(stream, mode));
}

cudaGraph_t end(cudaStream_t stream) {
  cudaGraph_t graph = nullptr;
  CUDA_OK(cudaStreamEndCapture(stream, &graph));
  return graph;
}

/// The capture was invalidated: its end says so and gives no graph.
void expect_invalidated(cudaStream_t stream) {
  cudaStreamCaptureStatus status{};
  CUDA_OK(cudaStreamIsCapturing(stream, &status));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(&status);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT(graph == nullptr);
  CUDA_OK(cudaStreamIsCapturing(stream, &status));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusNone);
  (void)cudaGetLastError();
}

size_t edge_count(cudaGraph_t graph) {
  size_t count = 0;
  CUDA_OK(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count));
  return count;
}

/// Runs the graph and destroys it.
void run(cudaGraph_t graph, int times = 1) {
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  Stream stream;
  for (int i = 0; i < times; ++i) CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
}

}  // namespace

// ---- what is captured ----

CASE(linear) {
  Device memory(1);
  int* host = nullptr;
  CUDA_OK(cudaMallocHost(&host, 4));
  int calls = 0;
  *host = -1;
  Stream stream;
  begin(stream);
  CUDA_OK(cudaMemsetAsync(memory, 0, 4, stream));
  launch(stream, digit, memory, 1);
  launch(stream, digit, memory, 2);
  CUDA_OK(cudaMemcpyAsync(host, memory, 4, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaLaunchHostFunc(stream, increment, &calls));
  cudaGraph_t graph = end(stream);
  EXPECT_EQUAL(node_count(graph), 5u);
  EXPECT_EQUAL(edge_count(graph), 4u);
  EXPECT_EQUAL(*host, -1);  // nothing has run
  EXPECT_EQUAL(calls, 0);
  run(graph, 3);
  EXPECT_EQUAL(*host, 12);
  EXPECT_EQUAL(calls, 3);
  CUDA_OK(cudaFreeHost(host));
}

CASE(fork_and_join) {
  Device memory(3);
  Stream stream, other;
  Event fork, join;
  begin(stream);
  launch(stream, put, memory, 1);
  CUDA_OK(cudaEventRecord(fork, stream));
  CUDA_OK(cudaStreamWaitEvent(other, fork, 0));
  cudaStreamCaptureStatus status{};
  CUDA_OK(cudaStreamIsCapturing(other, &status));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusActive);
  launch(stream, put, memory + 1, 2);
  launch(other, put, memory + 2, 3);
  CUDA_OK(cudaEventRecord(join, other));
  CUDA_OK(cudaStreamWaitEvent(stream, join, 0));
  launch(stream, digit, memory, 4);
  cudaGraph_t graph = end(stream);
  CUDA_OK(cudaStreamIsCapturing(other, &status));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusNone);
  EXPECT_EQUAL(node_count(graph), 4u);
  EXPECT_EQUAL(edge_count(graph), 4u);
  run(graph);
  EXPECT_EQUAL(memory.value(0), 14);
  EXPECT_EQUAL(memory.value(1), 2);
  EXPECT_EQUAL(memory.value(2), 3);
  // Both streams work as before.
  launch(other, put, memory, 5);
  CUDA_OK(cudaStreamSynchronize(other));
  EXPECT_EQUAL(memory.value(0), 5);
}

namespace {

/// As a library does it: forks to its own stream and joins, whether the caller's stream is captured or not.
void library_call(cudaStream_t stream, cudaStream_t own, int* at) {
  Event fork, join;
  CUDA_OK(cudaEventRecord(fork, stream));
  CUDA_OK(cudaStreamWaitEvent(own, fork, 0));
  launch(own, digit, at, 5);
  CUDA_OK(cudaEventRecord(join, own));
  CUDA_OK(cudaStreamWaitEvent(stream, join, 0));
}

}  // namespace

CASE(library_in_a_capture) {
  Device memory(1);
  Stream stream, own;
  begin(stream);
  launch(stream, put, memory, 4);
  library_call(stream, own, memory);
  launch(stream, digit, memory, 6);
  run(end(stream));
  EXPECT_EQUAL(memory.value(), 456);
  library_call(stream, own, memory);
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(memory.value(), 4565);
}

CASE(copies_and_fills) {
  constexpr size_t kPitch = 64, kWidth = 12, kRows = 3;
  unsigned char *device = nullptr, *host = nullptr;
  CUDA_OK(cudaMalloc(&device, kPitch * kRows));
  CUDA_OK(cudaMemset(device, 1, kPitch * kRows));
  CUDA_OK(cudaStreamSynchronize(nullptr));
  CUDA_OK(cudaMallocHost(&host, kWidth * kRows));
  cudaPitchedPtr box{};
  CUDA_OK(cudaMalloc3D(&box, make_cudaExtent(kWidth, kRows, 2)));
  Stream stream;
  begin(stream);
  CUDA_OK(cudaMemset2DAsync(device, kPitch, 7, kWidth, kRows, stream));
  CUDA_OK(cudaMemset3DAsync(box, 8, make_cudaExtent(kWidth, kRows, 2), stream));
  cudaMemcpy3DParms slice{};
  slice.srcPtr = box;
  slice.srcPos = make_cudaPos(0, 0, 1);
  slice.dstPtr = make_cudaPitchedPtr(device, kPitch, kPitch, kRows);
  slice.extent = make_cudaExtent(kWidth, 1, 1);
  slice.kind = cudaMemcpyDeviceToDevice;
  CUDA_OK(cudaMemcpy3DAsync(&slice, stream));
  CUDA_OK(cudaMemcpy2DAsync(host, kWidth, device, kPitch, kWidth, kRows, cudaMemcpyDeviceToHost, stream));
  run(end(stream));
  for (size_t i = 0; i < kWidth * kRows; ++i) EXPECT_EQUAL_AT(i, host[i], i < kWidth ? 8 : 7);
  EXPECT(check::all_bytes(device + kWidth, kPitch - kWidth, 1));
  CUDA_OK(cudaFree(device));
  CUDA_OK(cudaFree(box.ptr));
  CUDA_OK(cudaFreeHost(host));
}

CASE(memory_in_stream_order) {
  int* host = nullptr;
  CUDA_OK(cudaMallocHost(&host, 4));
  Stream stream;
  begin(stream);
  int* memory = nullptr;
  CUDA_OK(cudaMallocAsync(&memory, 4096, stream));
  EXPECT(memory != nullptr);
  launch(stream, put, memory, 31);
  CUDA_OK(cudaMemcpyAsync(host, memory, 4, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaFreeAsync(memory, stream));
  cudaGraph_t graph = end(stream);
  EXPECT_EQUAL(node_count(graph), 4u);
  cudaGraphNode_t root = nullptr;
  size_t count = 1;
  CUDA_OK(cudaGraphGetRootNodes(graph, &root, &count));
  cudaGraphNodeType type{};
  CUDA_OK(cudaGraphNodeGetType(root, &type));
  EXPECT_EQUAL(type, cudaGraphNodeTypeMemAlloc);
  run(graph, 2);
  EXPECT_EQUAL(*host, 31);
  CUDA_OK(cudaFreeHost(host));
}

// A launch of a graph has no node. Oracle: an H200 (driver 580).
CASE(launches_of_graphs_are_not_captured) {
  Device memory(1);
  Stream stream;
  begin(stream);
  launch(stream, digit, memory, 2);
  cudaGraph_t inner = end(stream), none = nullptr;
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaGraphInstantiate(&exec, inner, 0));
  begin(stream);
  EXPECT_CUDA(cudaGraphLaunch(exec, stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &none), cudaErrorStreamCaptureInvalidated);
  (void)cudaGetLastError();
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  EXPECT_EQUAL(memory.value(), 2);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(inner));
}

CASE(external_events) {
  Device memory(1);
  Stream stream;
  Event event;
  begin(stream);
  launch(stream, put, memory, 9);
  CUDA_OK(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal));
  cudaGraph_t graph = end(stream);
  EXPECT_EQUAL(node_count(graph), 2u);
  CUDA_OK(cudaEventQuery(event));  // not captured: the node will record it
  cudaGraphExec_t exec = nullptr;
  CUDA_OK(cudaGraphInstantiate(&exec, graph, 0));
  CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaEventSynchronize(event));
  EXPECT_EQUAL(memory.value(), 9);
  CUDA_OK(cudaGraphExecDestroy(exec));
  CUDA_OK(cudaGraphDestroy(graph));
  // Outside of a capture. Oracle: an H200 (driver 580).
  EXPECT_CUDA(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal), cudaErrorIllegalState);
  cudaGetLastError();
}

// ---- asking and steering ----

CASE(capture_info) {
  Device memory(1);
  Stream stream;
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0, other_id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;
  size_t count = 99;
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusNone);
  begin(stream);
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusActive);
  EXPECT_EQUAL(count, 0u);
  launch(stream, put, memory, 1);
  CUDA_OK(cudaStreamGetCaptureInfo(stream, &status, &other_id, &graph, &dependencies, nullptr, &count));
  EXPECT_EQUAL(id, other_id);
  EXPECT_EQUAL(count, 1u);
  // A node of our own, which the next launch comes after.
  cudaGraphNode_t own = nullptr;
  cudaMemsetParams params{memory, 0, 0, 4, 1, 1};
  CUDA_OK(cudaGraphAddMemsetNode(&own, graph, dependencies, count, &params));
  CUDA_OK(cudaStreamUpdateCaptureDependencies(stream, &own, nullptr, 1, cudaStreamSetCaptureDependencies));
  launch(stream, digit, memory, 7);
  cudaGraph_t captured = end(stream);
  EXPECT(captured == graph);
  EXPECT_EQUAL(edge_count(captured), 2u);
  run(captured);
  EXPECT_EQUAL(memory.value(), 7);
  EXPECT_CUDA(cudaStreamUpdateCaptureDependencies(stream, nullptr, nullptr, 0, cudaStreamAddCaptureDependencies),
              cudaErrorIllegalState);
}

CASE(capture_to_a_graph) {
  Device memory(1);
  Stream stream;
  cudaGraph_t graph = nullptr, ended = nullptr;
  cudaGraphNode_t first = nullptr;
  CUDA_OK(cudaGraphCreate(&graph, 0));
  cudaMemsetParams params{memory, 0, 3, 4, 1, 1};
  CUDA_OK(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &params));
  CUDA_OK(cudaStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, cudaStreamCaptureModeRelaxed));
  launch(stream, digit, memory, 4);
  CUDA_OK(cudaStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  EXPECT_EQUAL(edge_count(graph), 1u);
  run(graph);
  EXPECT_EQUAL(memory.value(), 34);
}

// ---- violations ----

CASE(states) {
  Stream stream;
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  begin(stream);
  EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), cudaErrorIllegalState);
  CUDA_OK(cudaGraphDestroy(end(stream)));
  EXPECT_CUDA(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_CUDA(cudaStreamBeginCapture(stream, static_cast<cudaStreamCaptureMode>(9)), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CASE(waiting_for_a_captured_stream) {
  Stream stream;
  begin(stream);
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  expect_invalidated(stream);
  begin(stream);
  EXPECT_CUDA(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
  expect_invalidated(stream);
  begin(stream);
  EXPECT_CUDA(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  expect_invalidated(stream);
}

CASE(nothing_is_captured_once_invalid) {
  Device memory(1);
  Stream stream;
  begin(stream);
  EXPECT_CUDA(cudaStreamQuery(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_CUDA(cudaMemsetAsync(memory, 0, 4, stream), cudaErrorStreamCaptureInvalidated);
  expect_invalidated(stream);
}

CASE(captured_events) {
  Stream stream;
  Event event;
  begin(stream, cudaStreamCaptureModeRelaxed);
  CUDA_OK(cudaEventRecord(event, stream));
  EXPECT_CUDA(cudaEventQuery(event), cudaErrorCapturedEvent);
  expect_invalidated(stream);
  begin(stream, cudaStreamCaptureModeRelaxed);
  CUDA_OK(cudaEventRecord(event, stream));
  EXPECT_CUDA(cudaEventSynchronize(event), cudaErrorCapturedEvent);
  expect_invalidated(stream);
  CUDA_OK(cudaEventRecord(event, stream));  // an ordinary event again
  CUDA_OK(cudaEventSynchronize(event));
}

CASE(isolation) {
  Stream stream, other;
  Event event;
  CUDA_OK(cudaEventRecord(event, other));
  begin(stream);
  EXPECT_CUDA(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureIsolation);
  expect_invalidated(stream);
}

CASE(merge) {
  Device memory(1);
  Stream first, second;
  Event event;
  begin(first);
  begin(second);
  launch(first, put, memory, 1);
  CUDA_OK(cudaEventRecord(event, first));
  EXPECT_CUDA(cudaStreamWaitEvent(second, event, 0), cudaErrorStreamCaptureMerge);
  expect_invalidated(second);
  expect_invalidated(first);
}

CASE(unjoined) {
  Device memory(1);
  Stream stream, other;
  Event event;
  begin(stream);
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaStreamWaitEvent(other, event, 0));
  launch(other, put, memory, 1);
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT(graph == nullptr);
  cudaStreamCaptureStatus status{};
  CUDA_OK(cudaStreamIsCapturing(other, &status));
  EXPECT_EQUAL(status, cudaStreamCaptureStatusNone);
  (void)cudaGetLastError();
}

CASE(unmatched) {
  Stream stream, other;
  Event event;
  begin(stream);
  CUDA_OK(cudaEventRecord(event, stream));
  CUDA_OK(cudaStreamWaitEvent(other, event, 0));
  cudaGraph_t graph = nullptr;
  EXPECT_CUDA(cudaStreamEndCapture(other, &graph), cudaErrorStreamCaptureUnmatched);
  expect_invalidated(stream);
  (void)cudaGetLastError();
}

CASE(threads) {
  Stream stream;
  begin(stream);
  std::thread([&] {
    cudaGraph_t graph = nullptr;
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
  }).join();
  cudaGraph_t none = nullptr;  // it is over all the same. Oracle: an H200 (driver 580)
  EXPECT_CUDA(cudaStreamEndCapture(stream, &none), cudaErrorIllegalState);
  begin(stream, cudaStreamCaptureModeRelaxed);
  std::thread([&] { CUDA_OK(cudaGraphDestroy(end(stream))); }).join();
  (void)cudaGetLastError();
}

// The legacy stream would wait for a blocking stream, and so cannot be used while one is captured.
CASE(legacy_stream) {
  Device memory(1);
  Stream blocking(cudaStreamDefault);
  for (cudaStreamCaptureMode mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    begin(blocking, mode);
    EXPECT_CUDA(cudaMemsetAsync(memory, 0, 4, cudaStreamLegacy), cudaErrorStreamCaptureImplicit);
    expect_invalidated(blocking);
  }
  cudaStreamCaptureStatus status{};
  begin(blocking, cudaStreamCaptureModeRelaxed);
  EXPECT_CUDA(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit);
  (void)cudaGetLastError();
  CUDA_OK(cudaGraphDestroy(end(blocking)));  // asking has not invalidated it
  begin(blocking, cudaStreamCaptureModeRelaxed);
  EXPECT_CUDA(cudaStreamSynchronize(cudaStreamLegacy), cudaErrorStreamCaptureImplicit);
  expect_invalidated(blocking);
  // A non-blocking one has nothing to do with it.
  Stream stream;
  begin(stream, cudaStreamCaptureModeRelaxed);
  CUDA_OK(cudaMemsetAsync(memory, 0, 4, cudaStreamLegacy));
  CUDA_OK(cudaStreamSynchronize(cudaStreamLegacy));
  CUDA_OK(cudaGraphDestroy(end(stream)));
}

CASE(unsafe_calls_and_modes) {
  Stream stream;
  int* memory = nullptr;
  for (cudaStreamCaptureMode mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal}) {
    begin(stream, mode);
    EXPECT_CUDA(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
    expect_invalidated(stream);
  }
  begin(stream, cudaStreamCaptureModeRelaxed);
  CUDA_OK(cudaMalloc(&memory, 16));
  CUDA_OK(cudaFree(memory));
  CUDA_OK(cudaGraphDestroy(end(stream)));
  // Other threads: only a capture in global mode concerns them.
  begin(stream, cudaStreamCaptureModeThreadLocal);
  std::thread([&] {
    int* own = nullptr;
    CUDA_OK(cudaMalloc(&own, 16));
    CUDA_OK(cudaFree(own));
  }).join();
  CUDA_OK(cudaGraphDestroy(end(stream)));
  begin(stream, cudaStreamCaptureModeGlobal);
  std::thread([&] {
    int* own = nullptr;
    EXPECT_CUDA(cudaMalloc(&own, 16), cudaErrorStreamCaptureUnsupported);
  }).join();
  expect_invalidated(stream);
  begin(stream, cudaStreamCaptureModeGlobal);
  std::thread([&] {
    int* own = nullptr;
    cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal;
    CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
    EXPECT_EQUAL(mode, cudaStreamCaptureModeGlobal);
    CUDA_OK(cudaMalloc(&own, 16));
    CUDA_OK(cudaFree(own));
  }).join();
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  CUDA_OK(cudaMalloc(&memory, 16));
  CUDA_OK(cudaFree(memory));
  CUDA_OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQUAL(mode, cudaStreamCaptureModeRelaxed);
  CUDA_OK(cudaGraphDestroy(end(stream)));
}

CHECK_MAIN()
