// Stream capture. "CUDA Runtime API, Stream Management".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

const CUgraphEdgeData* edges(const cudaGraphEdgeData* data) {
  return reinterpret_cast<const CUgraphEdgeData*>(data);  // one layout under two names
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuStreamBeginCapture(stream, static_cast<CUstreamCaptureMode>(mode))); });
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                                          cudaStreamCaptureMode mode) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuStreamBeginCaptureToGraph(stream, graph, dependencies, edges(dependencyData), numDependencies,
                                                static_cast<CUstreamCaptureMode>(mode)));
  });
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* pGraph) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamEndCapture(stream, pGraph)); });
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* captureStatus_out,
                                     unsigned long long* id_out, cudaGraph_t* graph_out,
                                     const cudaGraphNode_t** dependencies_out, const cudaGraphEdgeData** edgeData_out,
                                     size_t* numDependencies_out) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(captureStatus_out, "captureStatus_out"));
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    TRY(check(cu.cuStreamGetCaptureInfo(stream, &status, &id, graph_out, dependencies_out,
                                        reinterpret_cast<const CUgraphEdgeData**>(edgeData_out), numDependencies_out)));
    *captureStatus_out = static_cast<cudaStreamCaptureStatus>(status);
    if (id_out && status == CU_STREAM_CAPTURE_STATUS_ACTIVE) *id_out = id;
    return {};
  });
}
cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                                                unsigned int flags) {
  return with_context([&](const Driver& cu) {
    return check(
        cu.cuStreamUpdateCaptureDependencies(stream, dependencies, edges(dependencyData), numDependencies, flags));
  });
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return with_driver([&](const Driver& cu) -> Result<> {
    TRY(given(mode, "mode"));
    auto exchanged = static_cast<CUstreamCaptureMode>(*mode);
    TRY(check(cu.cuThreadExchangeStreamCaptureMode(&exchanged)));
    *mode = static_cast<cudaStreamCaptureMode>(exchanged);
    return {};
  });
}
