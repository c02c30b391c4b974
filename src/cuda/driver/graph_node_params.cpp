// Adding nodes, and reading and changing what they do. "CUDA Driver API, Graph Management".

#include <cstring>

#include "cuda/driver/graph_nodes.h"
#include "cuda/driver/launch_attributes.h"
#include "runtime/graph_condition.h"
#include "runtime/graph_memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

/// A node with `params` in a graph: the whole of an Add call.
template <typename Params>
CUresult add(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, size_t count, const Params* params,
             const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(out, "phGraphNode"));
        TRY(given(params, "nodeParams"));
        TRY(Runtime::get().graph(graph));
        TRY(Described described, describe(*params));
        TRY(Node* const node, add_node(graph, dependencies, nullptr, count, std::move(described)));
        *out = handle_of<CUgraphNode>(node);
        return {};
      },
      call);
}

template <typename Params>
CUresult get(CUgraphNode handle, Params* params, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(params, "nodeParams"));
        TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(handle));
        return write(*node, *params);
      },
      call);
}

template <typename Params>
CUresult set(CUgraphNode handle, const Params* params, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(params, "nodeParams"));
        TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(handle));
        TRY(Described described, describe(*params));
        return replace(*node, std::move(described));
      },
      call);
}

template <typename Params>
Result<> exec_set_work(CUgraphExec executable, CUgraphNode handle, const Params& params) {
  TRY(std::shared_ptr<ExecutableGraph> graph, Runtime::get().executable_graph(executable));
  TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(handle));
  TRY(Described described, describe(params));
  return graph->set_work(*node, std::move(described.work));
}

template <typename Params>
CUresult exec_set(CUgraphExec executable, CUgraphNode handle, const Params* params,
                  const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(params, "nodeParams"));
        return exec_set_work(executable, handle, *params);
      },
      call);
}

Result<> exec_set_child(CUgraphExec executable, CUgraphNode handle, CUgraph child) {
  TRY(std::shared_ptr<ExecutableGraph> graph, Runtime::get().executable_graph(executable));
  TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(handle));
  TRY(std::shared_ptr<Graph> given_graph, Runtime::get().graph(child));
  return graph->set_child(*node, *given_graph);
}

/// The context that a copy or fill names: any live one will do, addresses are unified.
Result<> check_context(CUcontext context) {
  if (context) TRY(Runtime::get().context(context));
  return {};
}

CUDA_MEMSET_NODE_PARAMS first_version(const CUDA_MEMSET_NODE_PARAMS_v2& p) {
  return {p.dst, p.pitch, p.value, p.elementSize, p.width, p.height};
}
CUDA_HOST_NODE_PARAMS first_version(const CUDA_HOST_NODE_PARAMS_v2& p) {
  return {p.fn, p.userData};
}

std::unexpected<Error> refuse_type(CUgraphNodeType type) {
  if (type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL || type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT)
    return fail(ErrorCode::NotSupported, "there are no external semaphores: nothing outside of the process is shared");
  return fail(ErrorCode::InvalidValue, "nodes of type {} cannot be made or changed so", static_cast<int>(type));
}

/// What the general parameters of any type describe.
Result<Described> describe_any(const CUgraphNodeParams& p) {
  switch (p.type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return describe(p.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      if (p.memcpy.flags != 0 || p.memcpy.reserved != 0)
        return fail(ErrorCode::InvalidValue, "the flags of a memcpy node must be 0");
      TRY(check_context(p.memcpy.copyCtx));
      return describe(p.memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
      TRY(check_context(p.memset.ctx));
      return describe(first_version(p.memset));
    case CU_GRAPH_NODE_TYPE_HOST:
      return describe(first_version(p.host));
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return describe(p.graph);
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return Described{EmptyWork{}, {}};
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return describe(p.eventWait);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return describe(p.eventRecord);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return describe(p.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return describe(p.free);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
      return describe(p.conditional);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
      return describe(p.memOp);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
      break;
  }
  return refuse_type(p.type);
}

bool all_zero(const int (&reserved)[3], long long last) {
  return reserved[0] == 0 && reserved[1] == 0 && reserved[2] == 0 && last == 0;
}

CUresult add_any(CUgraphNode* out, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                 size_t count, CUgraphNodeParams* params, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(out, "phGraphNode"));
        TRY(given(params, "nodeParams"));
        TRY(Runtime::get().graph(graph));
        if (!all_zero(params->reserved0, params->reserved2))
          return fail(ErrorCode::InvalidValue, "the reserved members of nodeParams must be 0");
        TRY(Described described, describe_any(*params));
        TRY(Node* const node, add_node(graph, dependencies, data, count, std::move(described)));
        if (params->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
          params->alloc.dptr = std::get<AllocWork>(node->work).allocation->address();
        if (params->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) TRY(write(*node, params->conditional));
        *out = handle_of<CUgraphNode>(node);
        return {};
      },
      call);
}

Result<KernelWork*> kernel_of(CUgraphNode handle) {
  TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(handle));
  if (auto* kernel = std::get_if<KernelWork>(&node->work)) return kernel;
  return fail(ErrorCode::InvalidValue, "the node is no kernel node");
}

}  // namespace

// ---- nodes of any type ----

CUresult cuGraphAddNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                           const CUgraphEdgeData* dependencyData, size_t numDependencies,
                           CUgraphNodeParams* nodeParams) {
  return add_any(phGraphNode, hGraph, dependencies, dependencyData, numDependencies, nodeParams);
}
CUresult cuGraphAddNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                        size_t numDependencies, CUgraphNodeParams* nodeParams) {
  return add_any(phGraphNode, hGraph, dependencies, nullptr, numDependencies, nodeParams);
}

CUresult cuGraphNodeSetParams(CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return api_call([&]() -> Result<> {
    TRY(given(nodeParams, "nodeParams"));
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    if (nodeParams->type != type_of(node->work))
      return fail(ErrorCode::InvalidValue, "the node is of another type than the parameters");
    if (!graphs_within(node->work).empty() || node->has_memory()) return refuse_type(nodeParams->type);
    TRY(Described described, describe_any(*nodeParams));
    return replace(*node, std::move(described));
  });
}

CUresult cuGraphExecNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraphNodeParams* nodeParams) {
  return api_call([&]() -> Result<> {
    TRY(given(nodeParams, "nodeParams"));
    TRY(std::shared_ptr<ExecutableGraph> executable, Runtime::get().executable_graph(hGraphExec));
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    if (nodeParams->type != type_of(node->work))
      return fail(ErrorCode::InvalidValue, "the node is of another type than the parameters");
    if (nodeParams->type == CU_GRAPH_NODE_TYPE_GRAPH) return exec_set_child(hGraphExec, hNode, nodeParams->graph.graph);
    if (!graphs_within(node->work).empty() || node->has_memory()) return refuse_type(nodeParams->type);
    TRY(Described described, describe_any(*nodeParams));
    return executable->set_work(*node, std::move(described.work));
  });
}

// ---- kernels ----

CUresult cuGraphAddKernelNode_v2(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}
CUresult cuGraphAddKernelNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return get(hNode, nodeParams);
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode hNode, CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return get(hNode, nodeParams);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphKernelNodeSetParams(CUgraphNode hNode, const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec hGraphExec, CUgraphNode hNode,
                                           const CUDA_KERNEL_NODE_PARAMS* nodeParams) {
  return exec_set(hGraphExec, hNode, nodeParams);
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_KERNEL_NODE_PARAMS_v1* nodeParams) {
  return exec_set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, CUkernelNodeAttrValue* value_out) {
  return api_call([&]() -> Result<> {
    TRY(given(value_out, "value_out"));
    TRY(const KernelWork* const kernel, kernel_of(hNode));
    TRY(*value_out, attribute_value(AttributeOf::KernelNode, kernel->attributes, attr));
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value_out->cooperative = kernel->shape.cooperative;
    return {};
  });
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode hNode, CUkernelNodeAttrID attr, const CUkernelNodeAttrValue* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(KernelWork* const kernel, kernel_of(hNode));
    if (attr == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) {
      LaunchShape shape = kernel->shape;
      shape.cooperative = value->cooperative != 0;
      TRY(check_launch(*kernel->function, shape));
      kernel->shape = shape;
    }
    return set_attribute(AttributeOf::KernelNode, kernel->attributes, attr, *value);
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode dst, CUgraphNode src) {
  return api_call([&]() -> Result<> {
    TRY(const KernelWork* const from, kernel_of(src));
    TRY(KernelWork* const to, kernel_of(dst));
    if (&from->function->context() != &to->function->context())
      return fail(ErrorCode::InvalidContext, "the kernels belong to different contexts");
    to->attributes = from->attributes;
    to->shape.cooperative = from->shape.cooperative;
    return {};
  });
}

// ---- values in memory ----

CUresult cuGraphAddBatchMemOpNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}
CUresult cuGraphBatchMemOpNodeGetParams(CUgraphNode hNode, CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams_out) {
  return get(hNode, nodeParams_out);
}
CUresult cuGraphBatchMemOpNodeSetParams(CUgraphNode hNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS* nodeParams) {
  return exec_set(hGraphExec, hNode, nodeParams);
}

// ---- copies and fills ----

CUresult cuGraphAddMemcpyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMCPY3D* copyParams, CUcontext) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, copyParams);
}
CUresult cuGraphMemcpyNodeGetParams(CUgraphNode hNode, CUDA_MEMCPY3D* nodeParams) {
  return get(hNode, nodeParams);
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode hNode, const CUDA_MEMCPY3D* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, const CUDA_MEMCPY3D* copyParams,
                                        CUcontext) {
  return exec_set(hGraphExec, hNode, copyParams);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                              size_t numDependencies, const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, memsetParams);
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode hNode, CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return get(hNode, nodeParams);
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode hNode, const CUDA_MEMSET_NODE_PARAMS* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                        const CUDA_MEMSET_NODE_PARAMS* memsetParams, CUcontext) {
  return exec_set(hGraphExec, hNode, memsetParams);
}

// ---- host functions, events, children ----

CUresult cuGraphAddHostNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                            size_t numDependencies, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
}
CUresult cuGraphHostNodeGetParams(CUgraphNode hNode, CUDA_HOST_NODE_PARAMS* nodeParams) {
  return get(hNode, nodeParams);
}
CUresult cuGraphHostNodeSetParams(CUgraphNode hNode, const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return set(hNode, nodeParams);
}
CUresult cuGraphExecHostNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode,
                                      const CUDA_HOST_NODE_PARAMS* nodeParams) {
  return exec_set(hGraphExec, hNode, nodeParams);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                             size_t numDependencies) {
  return api_call([&]() -> Result<> {
    TRY(given(phGraphNode, "phGraphNode"));
    TRY(Node* const node, add_node(hGraph, dependencies, nullptr, numDependencies, {EmptyWork{}, {}}));
    *phGraphNode = handle_of<CUgraphNode>(node);
    return {};
  });
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                   size_t numDependencies, CUevent event) {
  const CUDA_EVENT_RECORD_NODE_PARAMS params{event};
  return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  static_assert(sizeof(CUDA_EVENT_RECORD_NODE_PARAMS) == sizeof(CUevent));
  return get(hNode, reinterpret_cast<CUDA_EVENT_RECORD_NODE_PARAMS*>(event_out));
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode hNode, CUevent event) {
  const CUDA_EVENT_RECORD_NODE_PARAMS params{event};
  return set(hNode, &params);
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  const CUDA_EVENT_RECORD_NODE_PARAMS params{event};
  return exec_set(hGraphExec, hNode, &params);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                 size_t numDependencies, CUevent event) {
  const CUDA_EVENT_WAIT_NODE_PARAMS params{event};
  return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode hNode, CUevent* event_out) {
  static_assert(sizeof(CUDA_EVENT_WAIT_NODE_PARAMS) == sizeof(CUevent));
  return get(hNode, reinterpret_cast<CUDA_EVENT_WAIT_NODE_PARAMS*>(event_out));
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode hNode, CUevent event) {
  const CUDA_EVENT_WAIT_NODE_PARAMS params{event};
  return set(hNode, &params);
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec hGraphExec, CUgraphNode hNode, CUevent event) {
  const CUDA_EVENT_WAIT_NODE_PARAMS params{event};
  return exec_set(hGraphExec, hNode, &params);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                  size_t numDependencies, CUgraph childGraph) {
  const CUDA_CHILD_GRAPH_NODE_PARAMS params{childGraph, CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode hNode, CUgraph* phGraph) {
  return api_call([&]() -> Result<> {
    TRY(given(phGraph, "phGraph"));
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(hNode));
    CUDA_CHILD_GRAPH_NODE_PARAMS params{};
    TRY(write(*node, params));
    *phGraph = params.graph;
    return {};
  });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec hGraphExec, CUgraphNode hNode, CUgraph childGraph) {
  return api_call([&] { return exec_set_child(hGraphExec, hNode, childGraph); });
}

// ---- memory ----

CUresult cuGraphAddMemAllocNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                                size_t numDependencies, CUDA_MEM_ALLOC_NODE_PARAMS* nodeParams) {
  const CUresult result = add(phGraphNode, hGraph, dependencies, numDependencies, nodeParams);
  if (result != CUDA_SUCCESS) return result;
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(*phGraphNode));
    nodeParams->dptr = std::get<AllocWork>(node->work).allocation->address();
    return {};
  });
}
CUresult cuGraphMemAllocNodeGetParams(CUgraphNode hNode, CUDA_MEM_ALLOC_NODE_PARAMS* params_out) {
  return get(hNode, params_out);
}
CUresult cuGraphAddMemFreeNode(CUgraphNode* phGraphNode, CUgraph hGraph, const CUgraphNode* dependencies,
                               size_t numDependencies, CUdeviceptr dptr) {
  const CUDA_MEM_FREE_NODE_PARAMS params{dptr};
  return add(phGraphNode, hGraph, dependencies, numDependencies, &params);
}
CUresult cuGraphMemFreeNodeGetParams(CUgraphNode hNode, CUdeviceptr* dptr_out) {
  static_assert(sizeof(CUDA_MEM_FREE_NODE_PARAMS) == sizeof(CUdeviceptr));
  return get(hNode, reinterpret_cast<CUDA_MEM_FREE_NODE_PARAMS*>(dptr_out));
}
