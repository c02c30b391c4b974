// Adding nodes, and reading and changing what they do. "CUDA Runtime API, Graph Management".

#include <cstring>

#include "cuda/cudart/copy.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

// ---- between the structures of the two interfaces ----

template <typename Params>
Result<CUDA_KERNEL_NODE_PARAMS> kernel_params(const Driver& cu, CUcontext context, const Params& p) {
  TRY(CUfunction function, Registry::get().function(cu, context, p.func));
  CUDA_KERNEL_NODE_PARAMS params{};
  params.func = function;
  params.gridDimX = p.gridDim.x;
  params.gridDimY = p.gridDim.y;
  params.gridDimZ = p.gridDim.z;
  params.blockDimX = p.blockDim.x;
  params.blockDimY = p.blockDim.y;
  params.blockDimZ = p.blockDim.z;
  params.sharedMemBytes = p.sharedMemBytes;
  params.kernelParams = p.kernelParams;
  params.extra = p.extra;
  return params;
}

template <typename Params>
CUDA_MEMSET_NODE_PARAMS memset_params(const Params& p) {
  return {address(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
}

CUDA_MEM_ALLOC_NODE_PARAMS& alloc_params(cudaMemAllocNodeParams& p) {
  static_assert(sizeof p == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS) &&
                offsetof(cudaMemAllocNodeParams, dptr) == offsetof(CUDA_MEM_ALLOC_NODE_PARAMS, dptr));
  return reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS&>(p);
}

/// The driver's form of the parameters of any node.
Result<CUgraphNodeParams> node_params(const Driver& cu, CUcontext context, const cudaGraphNodeParams& p) {
  static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams));
  static_assert(sizeof(cudaMemAllocNodeParamsV2) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS_v2));
  CUgraphNodeParams params{};
  params.type = static_cast<CUgraphNodeType>(p.type);
  std::memcpy(params.reserved0, p.reserved0, sizeof params.reserved0);
  params.reserved2 = p.reserved2;
  switch (p.type) {
    case cudaGraphNodeTypeKernel: {
      TRY(params.kernel, kernel_params(cu, context, p.kernel));
      break;
    }
    case cudaGraphNodeTypeMemcpy: {
      params.memcpy.flags = p.memcpy.flags;
      TRY(params.memcpy.copyParams, driver_copy(cu, p.memcpy.copyParams));
      break;
    }
    case cudaGraphNodeTypeMemset: {
      const CUDA_MEMSET_NODE_PARAMS fill = memset_params(p.memset);
      params.memset = {fill.dst, fill.pitch, fill.value, fill.elementSize, fill.width, fill.height, nullptr};
      break;
    }
    case cudaGraphNodeTypeHost:
      params.host = {p.host.fn, p.host.userData};
      break;
    case cudaGraphNodeTypeGraph:
      params.graph = {p.graph.graph, static_cast<CUgraphChildGraphNodeOwnership>(p.graph.ownership)};
      break;
    case cudaGraphNodeTypeEmpty:
      break;
    case cudaGraphNodeTypeWaitEvent:
      params.eventWait.event = p.eventWait.event;
      break;
    case cudaGraphNodeTypeEventRecord:
      params.eventRecord.event = p.eventRecord.event;
      break;
    case cudaGraphNodeTypeMemAlloc:
      std::memcpy(&params.alloc, &p.alloc, sizeof params.alloc);
      break;
    case cudaGraphNodeTypeMemFree:
      params.free.dptr = address(p.free.dptr);
      break;
    case cudaGraphNodeTypeConditional:
      params.conditional.handle = p.conditional.handle;
      params.conditional.type = static_cast<CUgraphConditionalNodeType>(p.conditional.type);
      params.conditional.size = p.conditional.size;
      break;
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
    case cudaGraphNodeTypeCount:
      break;  // the driver refuses them
  }
  return params;
}

}  // namespace

// ---- nodes of any type ----

cudaError_t cudaGraphAddNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                             const cudaGraphEdgeData* dependencyData, size_t numDependencies,
                             cudaGraphNodeParams* nodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(nodeParams, "nodeParams"));
    TRY(CUgraphNodeParams params, node_params(cu, context, *nodeParams));
    TRY(check(cu.cuGraphAddNode(pGraphNode, graph, pDependencies,
                                reinterpret_cast<const CUgraphEdgeData*>(dependencyData), numDependencies, &params)));
    if (nodeParams->type == cudaGraphNodeTypeMemAlloc) nodeParams->alloc.dptr = pointer(params.alloc.dptr);
    if (nodeParams->type == cudaGraphNodeTypeConditional)
      nodeParams->conditional.phGraph_out = params.conditional.phGraph_out;
    return {};
  });
}
cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, cudaGraphNodeParams* nodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(nodeParams, "nodeParams"));
    TRY(CUgraphNodeParams params, node_params(cu, context, *nodeParams));
    return check(cu.cuGraphNodeSetParams(node, &params));
  });
}
cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t graphExec, cudaGraphNode_t node,
                                       cudaGraphNodeParams* nodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(nodeParams, "nodeParams"));
    TRY(CUgraphNodeParams params, node_params(cu, context, *nodeParams));
    return check(cu.cuGraphExecNodeSetParams(graphExec, node, &params));
  });
}

// ---- kernels ----

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, const cudaKernelNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    TRY(const CUDA_KERNEL_NODE_PARAMS params, kernel_params(cu, context, *pNodeParams));
    return check(cu.cuGraphAddKernelNode(pGraphNode, graph, pDependencies, numDependencies, &params));
  });
}
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node, cudaKernelNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    CUDA_KERNEL_NODE_PARAMS p{};
    TRY(check(cu.cuGraphKernelNodeGetParams(node, &p)));
    *pNodeParams = {const_cast<void*>(Registry::get().host_of(p.func)),
                    dim3(p.gridDimX, p.gridDimY, p.gridDimZ),
                    dim3(p.blockDimX, p.blockDimY, p.blockDimZ),
                    p.sharedMemBytes,
                    p.kernelParams,
                    p.extra};
    return {};
  });
}
cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    TRY(const CUDA_KERNEL_NODE_PARAMS params, kernel_params(cu, context, *pNodeParams));
    return check(cu.cuGraphKernelNodeSetParams(node, &params));
  });
}
cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    TRY(const CUDA_KERNEL_NODE_PARAMS params, kernel_params(cu, context, *pNodeParams));
    return check(cu.cuGraphExecKernelNodeSetParams(hGraphExec, node, &params));
  });
}
cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t hDst, cudaGraphNode_t hSrc) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphKernelNodeCopyAttributes(hDst, hSrc)); });
}
cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            cudaLaunchAttributeValue* value_out) {
  static_assert(sizeof(cudaLaunchAttributeValue) == sizeof(CUkernelNodeAttrValue));
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphKernelNodeGetAttribute(hNode, static_cast<CUkernelNodeAttrID>(attr),
                                                  reinterpret_cast<CUkernelNodeAttrValue*>(value_out)));
  });
}
cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t hNode, cudaLaunchAttributeID attr,
                                            const cudaLaunchAttributeValue* value) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphKernelNodeSetAttribute(hNode, static_cast<CUkernelNodeAttrID>(attr),
                                                  reinterpret_cast<const CUkernelNodeAttrValue*>(value)));
  });
}

// ---- copies ----

namespace {

Result<> add_copy(const Driver& cu, CUcontext context, cudaGraphNode_t* node, cudaGraph_t graph,
                  const cudaGraphNode_t* dependencies, size_t count, Result<CUDA_MEMCPY3D> params) {
  TRY(const CUDA_MEMCPY3D copy, std::move(params));
  return check(cu.cuGraphAddMemcpyNode(node, graph, dependencies, count, &copy, context));
}
Result<> set_copy(const Driver& cu, cudaGraphNode_t node, Result<CUDA_MEMCPY3D> params) {
  TRY(const CUDA_MEMCPY3D copy, std::move(params));
  return check(cu.cuGraphMemcpyNodeSetParams(node, &copy));
}
Result<> exec_set_copy(const Driver& cu, CUcontext context, cudaGraphExec_t executable, cudaGraphNode_t node,
                       Result<CUDA_MEMCPY3D> params) {
  TRY(const CUDA_MEMCPY3D copy, std::move(params));
  return check(cu.cuGraphExecMemcpyNodeSetParams(executable, node, &copy, context));
}

Result<CUDA_MEMCPY3D> to_symbol(const Driver& cu, CUcontext context, const void* symbol, const void* src, size_t count,
                                size_t offset, cudaMemcpyKind kind) {
  TRY(void* const dst, symbol_as_destination(cu, context, symbol, offset, count, kind));
  return driver_copy(dst, src, count, kind);
}
Result<CUDA_MEMCPY3D> from_symbol(const Driver& cu, CUcontext context, void* dst, const void* symbol, size_t count,
                                  size_t offset, cudaMemcpyKind kind) {
  TRY(const void* const src, symbol_as_source(cu, context, symbol, offset, count, kind));
  return driver_copy(dst, src, count, kind);
}

}  // namespace

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, const cudaMemcpy3DParms* pCopyParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pCopyParams, "pCopyParams"));
    return add_copy(cu, context, pGraphNode, graph, pDependencies, numDependencies, driver_copy(cu, *pCopyParams));
  });
}
cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dst,
                                     const void* src, size_t count, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return add_copy(cu, context, pGraphNode, graph, pDependencies, numDependencies, driver_copy(dst, src, count, kind));
  });
}
cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                           const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                           const void* symbol, const void* src, size_t count, size_t offset,
                                           cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return add_copy(cu, context, pGraphNode, graph, pDependencies, numDependencies,
                    to_symbol(cu, context, symbol, src, count, offset, kind));
  });
}
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                             const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dst,
                                             const void* symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return add_copy(cu, context, pGraphNode, graph, pDependencies, numDependencies,
                    from_symbol(cu, context, dst, symbol, count, offset, kind));
  });
}
cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node, cudaMemcpy3DParms* pNodeParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    CUDA_MEMCPY3D copy{};
    TRY(check(cu.cuGraphMemcpyNodeGetParams(node, &copy)));
    TRY(*pNodeParams, runtime_copy(cu, copy));
    return {};
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node, const cudaMemcpy3DParms* pNodeParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    return set_copy(cu, node, driver_copy(cu, *pNodeParams));
  });
}
cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void* dst, const void* src, size_t count,
                                           cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu) { return set_copy(cu, node, driver_copy(dst, src, count, kind)); });
}
cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void* symbol, const void* src,
                                                 size_t count, size_t offset, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return set_copy(cu, node, to_symbol(cu, context, symbol, src, count, offset, kind));
  });
}
cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const void* symbol, size_t count,
                                                   size_t offset, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return set_copy(cu, node, from_symbol(cu, context, dst, symbol, count, offset, kind));
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemcpy3DParms* pNodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    return exec_set_copy(cu, context, hGraphExec, node, driver_copy(cu, *pNodeParams));
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                               const void* src, size_t count, cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return exec_set_copy(cu, context, hGraphExec, node, driver_copy(dst, src, count, kind));
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                     const void* symbol, const void* src, size_t count, size_t offset,
                                                     cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return exec_set_copy(cu, context, hGraphExec, node, to_symbol(cu, context, symbol, src, count, offset, kind));
  });
}
cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t hGraphExec, cudaGraphNode_t node, void* dst,
                                                       const void* symbol, size_t count, size_t offset,
                                                       cudaMemcpyKind kind) {
  return with_context([&](const Driver& cu, CUcontext context) {
    return exec_set_copy(cu, context, hGraphExec, node, from_symbol(cu, context, dst, symbol, count, offset, kind));
  });
}

// ---- fills ----

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                   size_t numDependencies, const cudaMemsetParams* pMemsetParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pMemsetParams, "pMemsetParams"));
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(*pMemsetParams);
    return check(cu.cuGraphAddMemsetNode(pGraphNode, graph, pDependencies, numDependencies, &params, context));
  });
}
cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node, cudaMemsetParams* pNodeParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    CUDA_MEMSET_NODE_PARAMS p{};
    TRY(check(cu.cuGraphMemsetNodeGetParams(node, &p)));
    *pNodeParams = {pointer(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height};
    return {};
  });
}
cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node, const cudaMemsetParams* pNodeParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(*pNodeParams);
    return check(cu.cuGraphMemsetNodeSetParams(node, &params));
  });
}
cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                             const cudaMemsetParams* pNodeParams) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(pNodeParams, "pNodeParams"));
    const CUDA_MEMSET_NODE_PARAMS params = memset_params(*pNodeParams);
    return check(cu.cuGraphExecMemsetNodeSetParams(hGraphExec, node, &params, context));
  });
}

// ---- host functions ----

namespace {

/// One layout under two names.
const CUDA_HOST_NODE_PARAMS* host_params(const cudaHostNodeParams* p) {
  static_assert(sizeof(cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS));
  return reinterpret_cast<const CUDA_HOST_NODE_PARAMS*>(p);
}

}  // namespace

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                 size_t numDependencies, const cudaHostNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddHostNode(pGraphNode, graph, pDependencies, numDependencies, host_params(pNodeParams)));
  });
}
cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node, cudaHostNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphHostNodeGetParams(node, reinterpret_cast<CUDA_HOST_NODE_PARAMS*>(pNodeParams)));
  });
}
cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node, const cudaHostNodeParams* pNodeParams) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphHostNodeSetParams(node, host_params(pNodeParams))); });
}
cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                           const cudaHostNodeParams* pNodeParams) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphExecHostNodeSetParams(hGraphExec, node, host_params(pNodeParams)));
  });
}

// ---- children, empty nodes, events ----

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                       const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                       cudaGraph_t childGraph) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddChildGraphNode(pGraphNode, graph, pDependencies, numDependencies, childGraph));
  });
}
cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* pGraph) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphChildGraphNodeGetGraph(node, pGraph)); });
}
cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t hGraphExec, cudaGraphNode_t node,
                                                 cudaGraph_t childGraph) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphExecChildGraphNodeSetParams(hGraphExec, node, childGraph)); });
}
cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph, const cudaGraphNode_t* pDependencies,
                                  size_t numDependencies) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddEmptyNode(pGraphNode, graph, pDependencies, numDependencies));
  });
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                        const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                        cudaEvent_t event) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddEventRecordNode(pGraphNode, graph, pDependencies, numDependencies, event));
  });
}
cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphEventRecordNodeGetEvent(node, event_out)); });
}
cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphEventRecordNodeSetEvent(node, event)); });
}
cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphExecEventRecordNodeSetEvent(hGraphExec, hNode, event)); });
}
cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                      const cudaGraphNode_t* pDependencies, size_t numDependencies, cudaEvent_t event) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddEventWaitNode(pGraphNode, graph, pDependencies, numDependencies, event));
  });
}
cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event_out) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphEventWaitNodeGetEvent(node, event_out)); });
}
cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return with_context([&](const Driver& cu) { return check(cu.cuGraphEventWaitNodeSetEvent(node, event)); });
}
cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t hGraphExec, cudaGraphNode_t hNode, cudaEvent_t event) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuGraphExecEventWaitNodeSetEvent(hGraphExec, hNode, event)); });
}

// ---- memory ----

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                     const cudaGraphNode_t* pDependencies, size_t numDependencies,
                                     cudaMemAllocNodeParams* nodeParams) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(nodeParams, "nodeParams"));
    return check(
        cu.cuGraphAddMemAllocNode(pGraphNode, graph, pDependencies, numDependencies, &alloc_params(*nodeParams)));
  });
}
cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* params_out) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(params_out, "params_out"));
    return check(cu.cuGraphMemAllocNodeGetParams(node, &alloc_params(*params_out)));
  });
}
cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* pGraphNode, cudaGraph_t graph,
                                    const cudaGraphNode_t* pDependencies, size_t numDependencies, void* dptr) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphAddMemFreeNode(pGraphNode, graph, pDependencies, numDependencies, address(dptr)));
  });
}
cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* dptr_out) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuGraphMemFreeNodeGetParams(node, static_cast<CUdeviceptr*>(dptr_out)));
  });
}
