// Graphs: making, asking, edges, executable graphs, user objects. "CUDA Runtime API, Graph Management".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

/// One layout under two names.
const CUgraphEdgeData* edges(const cudaGraphEdgeData* data) {
  static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
  return reinterpret_cast<const CUgraphEdgeData*>(data);
}
CUgraphEdgeData* edges(cudaGraphEdgeData* data) {
  return reinterpret_cast<CUgraphEdgeData*>(data);
}

}  // namespace

cudaError_t cudaGraphCreate(cudaGraph_t* pGraph, unsigned int flags) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphCreate(pGraph, flags)); });
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphDestroy(graph)); });
}
cudaError_t cudaGraphClone(cudaGraph_t* pGraphClone, cudaGraph_t originalGraph) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphClone(pGraphClone, originalGraph)); });
}
cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* pNode, cudaGraphNode_t originalNode, cudaGraph_t clonedGraph) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphNodeFindInClone(pNode, originalNode, clonedGraph)); });
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* numNodes) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphGetNodes(graph, nodes, numNodes)); });
}
cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* pRootNodes, size_t* pNumRootNodes) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphGetRootNodes(graph, pRootNodes, pNumRootNodes)); });
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edgeData, size_t* numEdges) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphGetEdges(graph, from, to, edges(edgeData), numEdges)); });
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* pType) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pType, "pType"));
    CUgraphNodeType type{};
    TRY(check(cu.cuGraphNodeGetType(node, &type)));
    *pType = static_cast<cudaGraphNodeType>(type);
    return {};
  });
}
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* pDependencies,
                                         cudaGraphEdgeData* edgeData, size_t* pNumDependencies) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphNodeGetDependencies(node, pDependencies, edges(edgeData), pNumDependencies));
  });
}
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* pDependentNodes,
                                           cudaGraphEdgeData* edgeData, size_t* pNumDependentNodes) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphNodeGetDependentNodes(node, pDependentNodes, edges(edgeData), pNumDependentNodes));
  });
}
cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     const cudaGraphEdgeData* edgeData, size_t numDependencies) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddDependencies(graph, from, to, edges(edgeData), numDependencies));
  });
}
cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        const cudaGraphEdgeData* edgeData, size_t numDependencies) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphRemoveDependencies(graph, from, to, edges(edgeData), numDependencies));
  });
}
cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphDestroyNode(node)); });
}
cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned int flags) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphDebugDotPrint(graph, path, flags)); });
}
cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* pHandle_out, cudaGraph_t graph,
                                             unsigned int defaultLaunchValue, unsigned int flags) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pHandle_out, "pHandle_out"));
    CUgraphConditionalHandle handle = 0;
    TRY(check(cu.cuGraphConditionalHandleCreate(&handle, graph, context, defaultLaunchValue, flags)));
    *pHandle_out = handle;
    return {};
  });
}

// ---- executable graphs ----

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphInstantiateWithFlags(pGraphExec, graph, flags)); });
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* pGraphExec, cudaGraph_t graph, unsigned long long flags) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphInstantiateWithFlags(pGraphExec, graph, flags)); });
}
cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* pGraphExec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* instantiateParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
    auto* const params = reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(instantiateParams);
    return check(cu.cuGraphInstantiateWithParams(pGraphExec, graph, params));
  });
}
cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t graphExec, unsigned long long* flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(flags, "flags"));
    cuuint64_t value = 0;
    TRY(check(cu.cuGraphExecGetFlags(graphExec, &value)));
    *flags = value;
    return {};
  });
}
cudaError_t cudaGraphUpload(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphUpload(graphExec, stream)); });
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graphExec, cudaStream_t stream) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphLaunch(graphExec, stream)); });
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graphExec) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphExecDestroy(graphExec)); });
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t hGraphExec, cudaGraph_t hGraph,
                                cudaGraphExecUpdateResultInfo* resultInfo) {
  return with_context([&](const Driver& cu) -> Result<> {
    static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));
    auto* const info = reinterpret_cast<CUgraphExecUpdateResultInfo*>(resultInfo);
    return check(cu.cuGraphExecUpdate(hGraphExec, hGraph, info));
  });
}
cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int isEnabled) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphNodeSetEnabled(hGraphExec, hNode, isEnabled)); });
}
cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, unsigned int* isEnabled) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphNodeGetEnabled(hGraphExec, hNode, isEnabled)); });
}

// ---- user objects ----

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object_out, void* ptr, cudaHostFn_t destroy,
                                 unsigned int initialRefcount, unsigned int flags) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuUserObjectCreate(object_out, ptr, destroy, initialRefcount, flags)); });
}
cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned int count) {
  return with_context([&](const Driver& cu) { return check(cu.cuUserObjectRetain(object, count)); });
}
cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned int count) {
  return with_context([&](const Driver& cu) { return check(cu.cuUserObjectRelease(object, count)); });
}
cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count,
                                      unsigned int flags) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphRetainUserObject(graph, object, count, flags)); });
}
cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned int count) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphReleaseUserObject(graph, object, count)); });
}

// ---- memory of graphs ----

namespace {

Result<CUdevice> device_handle(const Driver& cu, int ordinal) {
  CUdevice device = 0;
  TRY(check(cu.cuDeviceGet(&device, ordinal)));
  return device;
}

}  // namespace

cudaError_t cudaDeviceGraphMemTrim(int device) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUdevice handle, device_handle(cu, device));
    return check(cu.cuDeviceGraphMemTrim(handle));
  });
}
cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void* value) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUdevice handle, device_handle(cu, device));
    return check(cu.cuDeviceGetGraphMemAttribute(handle, static_cast<CUgraphMem_attribute>(attr), value));
  });
}
cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attr, void* value) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(const CUdevice handle, device_handle(cu, device));
    return check(cu.cuDeviceSetGraphMemAttribute(handle, static_cast<CUgraphMem_attribute>(attr), value));
  });
}
