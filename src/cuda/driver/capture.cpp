// Stream capture. "CUDA Driver API, Stream Management".

#include "runtime/capture.h"

#include "cuda/driver/api.h"
#include "cuda/driver/graph_nodes.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<CaptureMode> capture_mode(CUstreamCaptureMode mode) {
  if (mode == CU_STREAM_CAPTURE_MODE_GLOBAL || mode == CU_STREAM_CAPTURE_MODE_THREAD_LOCAL ||
      mode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return static_cast<CaptureMode>(mode);
  return fail(ErrorCode::InvalidValue, "{} is no CUstreamCaptureMode", static_cast<int>(mode));
}

Result<> begin(CUstream handle, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
               const std::vector<Dependency>& dependencies) {
  TRY(const CaptureMode checked_mode, capture_mode(mode));
  TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(handle));
  TRY(stream->context().check());
  return begin_capture(stream, checked_mode, std::move(graph), dependencies);
}

/// The stream, to ask about it only: "if called on the legacy stream while a blocking stream is captured, the result is
/// CUDA_ERROR_STREAM_CAPTURE_IMPLICIT and the capture is not invalidated".
Result<std::shared_ptr<Stream>> asked_stream(CUstream handle) {
  TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(handle));
  if (stream->kind() == Stream::Kind::Legacy && stream->context().order()->captures_blocking())
    return fail(ErrorCode::StreamCaptureImplicit, "the legacy default stream encompasses a stream that is captured");
  return stream;
}

CUstreamCaptureStatus status_of(const std::shared_ptr<Capture>& capture) {
  return static_cast<CUstreamCaptureStatus>(capture ? capture->status() : CaptureStatus::None);
}

struct CaptureInfo {
  CUstreamCaptureStatus* status;
  cuuint64_t* id;
  CUgraph* graph;
  const CUgraphNode** dependencies;
  const CUgraphEdgeData** edges;
  size_t* count;
};

Result<> give_info(CUstream handle, const CaptureInfo& out) {
  static_assert(sizeof(EdgeData) == sizeof(CUgraphEdgeData));
  TRY(given(out.status, "captureStatus_out"));
  TRY(std::shared_ptr<Stream> stream, asked_stream(handle));
  const std::shared_ptr<Capture> capture = stream->capture();
  *out.status = status_of(capture);
  if (*out.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return {};
  const Frontier* frontier = capture->shown_frontier(*stream);
  if (out.id) *out.id = capture->id();
  if (out.graph) *out.graph = handle_of<CUgraph>(capture->graph().get());
  if (out.dependencies && frontier && !out.edges) {
    for (const EdgeData& edge : frontier->edges)
      if (edge != EdgeData{}) return fail(ErrorCode::LossyQuery, "a dependency has edge data that is not asked for");
  }
  if (out.dependencies)
    *out.dependencies = frontier ? reinterpret_cast<const CUgraphNode*>(frontier->nodes.data()) : nullptr;
  if (out.edges) *out.edges = frontier ? reinterpret_cast<const CUgraphEdgeData*>(frontier->edges.data()) : nullptr;
  if (out.count) *out.count = frontier ? frontier->nodes.size() : 0;
  return {};
}

Result<> update(CUstream handle, const CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count, unsigned flags) {
  if (flags != CU_STREAM_ADD_CAPTURE_DEPENDENCIES && flags != CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    return fail(ErrorCode::InvalidValue, "flags are {:#x}; give one of CUstreamUpdateCaptureDependencies_flags", flags);
  TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
  const std::shared_ptr<Capture> capture = stream->capture();
  if (!capture) return fail(ErrorCode::IllegalState, "the stream is not being captured");
  TRY(const std::vector<Dependency> dependencies, dependencies_of(nodes, data, count));
  return capture->update(*stream, dependencies, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

}  // namespace

CUresult cuStreamBeginCapture_v2(CUstream hStream, CUstreamCaptureMode mode) {
  return api_call([&] { return begin(hStream, mode, nullptr, {}); });
}
CUresult cuStreamBeginCapture(CUstream hStream) {
  return api_call([&] { return begin(hStream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {}); });
}

CUresult cuStreamBeginCaptureToGraph(CUstream hStream, CUgraph hGraph, const CUgraphNode* dependencies,
                                     const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                     CUstreamCaptureMode mode) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    TRY(const std::vector<Dependency> before, dependencies_of(dependencies, dependencyData, numDependencies));
    return begin(hStream, mode, std::move(graph), before);
  });
}

CUresult cuStreamEndCapture(CUstream hStream, CUgraph* phGraph) {
  return api_call([&]() -> Result<> {
    if (phGraph) *phGraph = nullptr;
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    const std::shared_ptr<Capture> capture = stream->capture();
    TRY(std::shared_ptr<Graph> graph, end_capture(*stream));
    if (phGraph)
      *phGraph = handle_of<CUgraph>(graph.get());
    else if (capture->owns_graph())
      graph->withdraw();  // nobody wants it, which is no error of an H200 (driver 580)
    return {};
  });
}

CUresult cuStreamIsCapturing(CUstream hStream, CUstreamCaptureStatus* captureStatus) {
  return api_call([&]() -> Result<> {
    TRY(given(captureStatus, "captureStatus"));
    TRY(std::shared_ptr<Stream> stream, asked_stream(hStream));
    *captureStatus = status_of(stream->capture());
    return {};
  });
}

CUresult cuStreamGetCaptureInfo(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out) {
  return api_call([&] { return give_info(hStream, {captureStatus_out, id_out, nullptr, nullptr, nullptr, nullptr}); });
}
CUresult cuStreamGetCaptureInfo_v2(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   size_t* numDependencies_out) {
  return api_call([&] {
    return give_info(hStream, {captureStatus_out, id_out, graph_out, dependencies_out, nullptr, numDependencies_out});
  });
}
CUresult cuStreamGetCaptureInfo_v3(CUstream hStream, CUstreamCaptureStatus* captureStatus_out, cuuint64_t* id_out,
                                   CUgraph* graph_out, const CUgraphNode** dependencies_out,
                                   const CUgraphEdgeData** edgeData_out, size_t* numDependencies_out) {
  return api_call([&] {
    return give_info(hStream,
                     {captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out});
  });
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream hStream, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* dependencyData, size_t numDependencies,
                                              unsigned int flags) {
  return api_call([&] { return update(hStream, dependencies, dependencyData, numDependencies, flags); });
}
CUresult cuStreamUpdateCaptureDependencies(CUstream hStream, CUgraphNode* dependencies, size_t numDependencies,
                                           unsigned int flags) {
  return api_call([&] { return update(hStream, dependencies, nullptr, numDependencies, flags); });
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return api_call([&]() -> Result<> {
    TRY(given(mode, "mode"));
    const auto wanted = static_cast<CaptureMode>(*mode);  // any number, as an H200 (driver 580) takes it
    *mode = static_cast<CUstreamCaptureMode>(std::exchange(ThreadState::get().capture_mode, wanted));
    return {};
  });
}
