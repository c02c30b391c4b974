// What the runtime refuses of graphs: no graph, a node of another kind or graph, parameters that fit no node, updates
// of what was not instantiated. Oracle: "CUDA Runtime API", Graph Management: the "Returns" of each function.

#include "graph_nodes.h"

namespace {

void nothing(void*) {}

__device__ int symbol_of_device[4];

cudaMemcpy3DParms copy_of(int* to, int* from) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from, 16, 16, 1);
  copy.dstPtr = make_cudaPitchedPtr(to, 16, 16, 1);
  copy.extent = make_cudaExtent(16, 1, 1);
  copy.kind = cudaMemcpyDeviceToDevice;
  return copy;
}

}  // namespace

CASE(whole_graphs) {
  Graph graph;
  cudaGraph_t made = nullptr;
  cudaGraphExec_t exec = nullptr;
  EXPECT_CUDA(cudaGraphCreate(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphCreate(&made, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphDestroy(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphClone(&made, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphClone(nullptr, graph), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphInstantiate(nullptr, graph, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphInstantiate(&exec, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphInstantiateWithFlags(&exec, graph, 1ull << 40), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecDestroy(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphLaunch(nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphUpload(nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphDebugDotPrint(graph, nullptr, 0), cudaErrorInvalidValue);
}

CASE(questions) {
  Graph graph;
  cudaGraphNode_t node = add_empty(graph, {});
  size_t count = 0;
  cudaGraphNodeType type;
  unsigned long long flags = 0;
  EXPECT_CUDA(cudaGraphGetNodes(nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphGetNodes(graph, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphGetRootNodes(nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphGetRootNodes(graph, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeGetType(nullptr, &type), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeGetType(node, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeGetDependencies(nullptr, nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeGetDependentNodes(nullptr, nullptr, nullptr, &count), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeFindInClone(nullptr, node, graph), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphDestroyNode(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecGetFlags(nullptr, &flags), cudaErrorInvalidValue);
}

CASE(edges) {
  Graph graph, other;
  cudaGraphNode_t first = add_empty(graph, {}), second = add_empty(graph, {}), foreign = add_empty(other, {});
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaGraphAddDependencies(graph, &first, &first, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddDependencies(graph, &first, &foreign, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphRemoveDependencies(graph, &first, &second, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, graph, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEmptyNode(&node, graph, &foreign, 1), cudaErrorInvalidValue);
}

CASE(kernel_nodes) {
  Graph graph;
  Device memory(4);
  Call call(put, memory, 1);
  cudaGraphNode_t node = nullptr, empty = add_empty(graph, {});
  CUDA_OK(cudaGraphAddKernelNode(&node, graph, nullptr, 0, &call.params));
  cudaKernelNodeParams large = call.params, got = {};
  large.blockDim.x = 4096;
  cudaLaunchAttributeValue value = {};
  EXPECT_CUDA(cudaGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddKernelNode(nullptr, graph, nullptr, 0, &call.params), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeGetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeGetParams(empty, &got), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeSetParams(node, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeSetParams(empty, &call.params), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeSetParams(node, &large), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeCopyAttributes(node, empty), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeGetAttribute(empty, cudaLaunchAttributePriority, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphKernelNodeSetAttribute(empty, cudaLaunchAttributePriority, &value), cudaErrorInvalidValue);
}

CASE(copy_and_fill_nodes) {
  Graph graph;
  Device memory(16);
  cudaGraphNode_t node = nullptr, empty = add_empty(graph, {});
  const cudaMemcpy3DParms copying = copy_of(memory, memory + 8);
  cudaMemcpy3DParms copy_got = {};
  const cudaMemsetParams filling{memory, 0, 1, 4, 4, 1}, odd{memory, 0, 1, 3, 4, 1};
  cudaMemsetParams fill_got = {};
  cudaGraphNode_t copy = add_copy(graph, {}, memory, memory + 8, 16), filled = add_memset(graph, {}, memory, 1, 4);
  const auto within = cudaMemcpyDeviceToDevice, out = cudaMemcpyDeviceToHost;
  EXPECT_CUDA(cudaGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemcpyNode(nullptr, graph, nullptr, 0, &copying), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemcpyNode1D(nullptr, graph, nullptr, 0, memory, memory, 16, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&node, nullptr, nullptr, 0, memory, memory, 16, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(copy, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(empty, &copy_got), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParams(empty, &copying), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParams(copy, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParams1D(empty, memory, memory + 8, 16, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemsetNode(&node, graph, nullptr, 0, &odd), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemsetNodeGetParams(filled, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemsetNodeGetParams(empty, &fill_got), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemsetNodeSetParams(empty, &filling), cudaErrorInvalidValue);
  int host[4] = {};
  const void* no_symbol = host;
  EXPECT_CUDA(cudaGraphAddMemcpyNodeToSymbol(&node, graph, nullptr, 0, no_symbol, memory.at, 16, 0, within),
              cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGraphAddMemcpyNodeFromSymbol(&node, graph, nullptr, 0, host, no_symbol, 16, 0, out),
              cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParamsToSymbol(copy, no_symbol, memory.at, 16, 0, within), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(copy, host, no_symbol, 16, 0, out), cudaErrorInvalidSymbol);
  const void* symbol = symbol_of_device;
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParamsToSymbol(empty, symbol, memory.at, 16, 0, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(empty, host, symbol, 16, 0, out), cudaErrorInvalidValue);
}

CASE(host_child_and_event_nodes) {
  Graph graph, child;
  Event event;
  cudaGraphNode_t node = nullptr, empty = add_empty(graph, {});
  cudaHostNodeParams call = {}, none = {}, got = {};
  call.fn = nothing;
  cudaGraph_t of = nullptr;
  cudaEvent_t found = nullptr;
  EXPECT_CUDA(cudaGraphAddHostNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddHostNode(&node, graph, nullptr, 0, &none), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphHostNodeGetParams(empty, &got), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphHostNodeSetParams(empty, &call), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphChildGraphNodeGetGraph(empty, &of), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEventRecordNode(nullptr, graph, nullptr, 0, event), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddEventWaitNode(nullptr, graph, nullptr, 0, event), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphEventRecordNodeGetEvent(empty, &found), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphEventRecordNodeSetEvent(empty, event), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphEventWaitNodeGetEvent(empty, &found), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphEventWaitNodeSetEvent(empty, event), cudaErrorInvalidValue);
}

CASE(memory_nodes) {
  Graph graph;
  cudaGraphNode_t node = nullptr, empty = add_empty(graph, {});
  cudaMemAllocNodeParams got = {};
  void* found = nullptr;
  unsigned long long value = 7;
  const auto unknown = static_cast<cudaGraphMemAttributeType>(99);
  EXPECT_CUDA(cudaGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemAllocNodeGetParams(empty, &got), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphAddMemFreeNode(&node, graph, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphMemFreeNodeGetParams(empty, &found), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetGraphMemAttribute(0, unknown, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetGraphMemAttribute(0, unknown, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGraphMemTrim(99), cudaErrorInvalidDevice);
  cudaGraphConditionalHandle handle = 0;
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(nullptr, graph, 0, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle, nullptr, 0, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0x80), cudaErrorInvalidValue);
}

CASE(instantiated_graphs) {
  Graph graph, other;
  Device memory(16);
  Event event;
  Call call(put, memory, 1), late(put, memory, 2);
  cudaGraphNode_t node = add_kernel(graph, {}, put, memory, 1), empty = add_empty(graph, {});
  Exec exec(graph);
  cudaGraphNode_t later = add_kernel(graph, {}, put, memory, 2);  // not part of exec
  const cudaMemcpy3DParms copying = copy_of(memory, memory + 8);
  const cudaMemsetParams filling{memory, 0, 1, 4, 4, 1};
  cudaHostNodeParams hosting = {};
  hosting.fn = nothing;
  int host[4] = {};
  const void *symbol = symbol_of_device, *no_symbol = host;
  const auto within = cudaMemcpyDeviceToDevice, out = cudaMemcpyDeviceToHost;
  EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(exec, later, &late.params), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(exec, node, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParams(exec, node, &copying), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParams1D(exec, node, memory, memory + 8, 16, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, symbol, memory.at, 16, 0, within),
              cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, node, no_symbol, memory.at, 16, 0, within),
              cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, node, host, no_symbol, 16, 0, out),
              cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGraphExecMemsetNodeSetParams(exec, node, &filling), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecHostNodeSetParams(exec, node, &hosting), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecChildGraphNodeSetParams(exec, node, other), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecEventRecordNodeSetEvent(exec, node, event), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecEventWaitNodeSetEvent(exec, node, event), cudaErrorInvalidValue);
  unsigned enabled = 0;
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, empty, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphNodeGetEnabled(exec, empty, &enabled), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphExecGetFlags(exec, nullptr), cudaErrorInvalidValue);
  cudaGraphExecUpdateResultInfo info = {};
  EXPECT_CUDA(cudaGraphExecUpdate(exec, other, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_CUDA(cudaGraphExecUpdate(exec, nullptr, &info), cudaErrorInvalidValue);
}

CASE(user_objects) {
  Graph graph;
  cudaUserObject_t object = nullptr;
  const unsigned flags = cudaUserObjectNoDestructorSync;
  EXPECT_CUDA(cudaUserObjectCreate(&object, nullptr, nothing, 1, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaUserObjectCreate(&object, nullptr, nothing, 0, flags), cudaErrorInvalidValue);
  CUDA_OK(cudaUserObjectCreate(&object, nullptr, nothing, 1, flags));
  EXPECT_CUDA(cudaUserObjectRetain(object, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaUserObjectRelease(object, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphRetainUserObject(graph, object, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphRetainUserObject(graph, object, 1, 0x80), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphReleaseUserObject(graph, object, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGraphReleaseUserObject(nullptr, object, 1), cudaErrorInvalidValue);
  CUDA_OK(cudaUserObjectRelease(object, 1));
}

CHECK_MAIN()
