// What the driver refuses of graphs: no graph, a node of another kind or graph, edges that make no sense, parameters
// that fit no node, updates of what was not instantiated.
// Oracle: "CUDA Driver API", Graph Management: the "Returns" of each function.

#include "driver_graph_nodes.h"

namespace {

CUDA_MEMSET_NODE_PARAMS fill(CUdeviceptr at) {
  CUDA_MEMSET_NODE_PARAMS params = {};
  params.dst = at;
  params.elementSize = 4;
  params.width = 4;
  params.height = 1;
  return params;
}

CUDA_MEMCPY3D copy_of(CUdeviceptr to, CUdeviceptr from) {
  CUDA_MEMCPY3D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.WidthInBytes = 16;
  copy.Height = copy.Depth = 1;
  return copy;
}

void nothing(void*) {}

}  // namespace

CASE(whole_graphs) {
  Graph graph;
  CUgraph made = nullptr;
  CUgraphExec exec = nullptr;
  EXPECT_CUDA(cuGraphCreate(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphCreate(&made, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphClone(nullptr, graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphClone(&made, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiate(nullptr, graph, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiate(&exec, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiate(&exec, graph, 1ull << 40), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphInstantiateWithParams(&exec, graph, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphLaunch(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphUpload(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphDebugDotPrint(graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphDebugDotPrint(nullptr, "/tmp/unused.dot", 0), CUDA_ERROR_INVALID_VALUE);
}

CASE(questions) {
  Graph graph;
  CUgraphNode node = add_empty(graph);
  size_t count = 0;
  CUgraphNodeType type;
  cuuint64_t flags = 0;
  EXPECT_CUDA(cuGraphGetNodes(nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphGetRootNodes(nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphGetRootNodes(graph, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphGetEdges(nullptr, nullptr, nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphGetEdges(graph, nullptr, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetType(nullptr, &type), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetType(node, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetDependencies(nullptr, nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetDependencies(node, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetDependentNodes(nullptr, nullptr, nullptr, &count), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetDependentNodes(node, nullptr, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeFindInClone(nullptr, node, graph), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphDestroyNode(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecGetFlags(nullptr, &flags), CUDA_ERROR_INVALID_VALUE);
}

CASE(edges) {
  Graph graph, other;
  CUgraphNode first = add_empty(graph), second = add_empty(graph), foreign = add_empty(other);
  const auto add = [&](CUgraphNode from, CUgraphNode to) {
    return cuGraphAddDependencies(graph, &from, &to, nullptr, 1);
  };
  EXPECT_CUDA(cuGraphAddDependencies(graph, &first, &first, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddDependencies(graph, &first, &foreign, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddDependencies(graph, nullptr, &second, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddDependencies(nullptr, &first, &second, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphRemoveDependencies(graph, &first, &second, nullptr, 1), CUDA_ERROR_INVALID_VALUE);  // no such edge
  CU_OK(add(first, second));
  EXPECT_CUDA(cuGraphAddDependencies(graph, &first, &second, nullptr, 1),
              CUDA_ERROR_INVALID_VALUE);  // is there already
  EXPECT_CUDA(cuGraphRemoveDependencies(nullptr, &first, &second, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  CUgraphNode node = nullptr;
  EXPECT_CUDA(cuGraphAddEmptyNode(nullptr, graph, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEmptyNode(&node, nullptr, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEmptyNode(&node, graph, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEmptyNode(&node, graph, &foreign, 1), CUDA_ERROR_INVALID_VALUE);
}

CASE(a_circle_is_not_instantiated) {
  Graph graph;
  CUgraphNode first = add_empty(graph), second = add_empty(graph);
  CU_OK(cuGraphAddDependencies(graph, &first, &second, nullptr, 1));
  CU_OK(cuGraphAddDependencies(graph, &second, &first, nullptr, 1));  // found later only. Oracle: an H200 (driver 580)
  CUgraphExec exec = nullptr;
  EXPECT_CUDA(cuGraphInstantiate(&exec, graph, 0), CUDA_ERROR_INVALID_VALUE);
}

CASE(kernel_nodes) {
  Graph graph;
  Memory memory(4);
  Call call(put, memory.at, 1);
  CUgraphNode node = nullptr, empty = add_empty(graph);
  CU_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &call.params));
  CUDA_KERNEL_NODE_PARAMS none = call.params, large = call.params;
  none.func = nullptr;
  large.blockDimX = 4096;
  EXPECT_CUDA(cuGraphAddKernelNode(nullptr, graph, nullptr, 0, &call.params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddKernelNode(&node, nullptr, nullptr, 0, &call.params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, &large), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddKernelNode(&node, graph, nullptr, 0, &none), CUDA_ERROR_INVALID_HANDLE);
  CUDA_KERNEL_NODE_PARAMS got = {};
  EXPECT_CUDA(cuGraphKernelNodeGetParams(node, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeGetParams(empty, &got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeSetParams(node, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeSetParams(empty, &call.params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeSetParams(node, &large), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeCopyAttributes(node, empty), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeCopyAttributes(empty, node), CUDA_ERROR_INVALID_VALUE);
  CUkernelNodeAttrValue value = {};
  EXPECT_CUDA(cuGraphKernelNodeGetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeGetAttribute(empty, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, &value),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphKernelNodeSetAttribute(node, CU_KERNEL_NODE_ATTRIBUTE_PRIORITY, nullptr),
              CUDA_ERROR_INVALID_VALUE);
}

CASE(copy_and_fill_nodes) {
  Graph graph;
  Memory memory(16);
  CUcontext context = check::use_context();
  CUgraphNode copy = nullptr, filled = nullptr, node = nullptr, empty = add_empty(graph);
  const CUDA_MEMCPY3D good_copy = copy_of(memory.at, memory.at + 32);
  const CUDA_MEMSET_NODE_PARAMS good_fill = fill(memory.at);
  CU_OK(cuGraphAddMemcpyNode(&copy, graph, nullptr, 0, &good_copy, context));
  CU_OK(cuGraphAddMemsetNode(&filled, graph, nullptr, 0, &good_fill, context));
  CUDA_MEMSET_NODE_PARAMS odd = good_fill;
  odd.elementSize = 3;
  EXPECT_CUDA(cuGraphAddMemcpyNode(nullptr, graph, nullptr, 0, &good_copy, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddMemcpyNode(&node, nullptr, nullptr, 0, &good_copy, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddMemcpyNode(&node, graph, nullptr, 0, nullptr, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddMemsetNode(&node, graph, nullptr, 0, nullptr, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddMemsetNode(&node, graph, nullptr, 0, &odd, context), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D copy_got = {};
  CUDA_MEMSET_NODE_PARAMS fill_got = {};
  EXPECT_CUDA(cuGraphMemcpyNodeGetParams(copy, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemcpyNodeGetParams(empty, &copy_got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemcpyNodeSetParams(copy, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemcpyNodeSetParams(empty, &good_copy), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemsetNodeGetParams(filled, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemsetNodeGetParams(empty, &fill_got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemsetNodeSetParams(filled, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemsetNodeSetParams(filled, &odd), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemsetNodeSetParams(empty, &good_fill), CUDA_ERROR_INVALID_VALUE);
}

CASE(host_child_and_event_nodes) {
  Graph graph, child;
  Event event;
  CUgraphNode host = nullptr, inner = nullptr, recorded = nullptr, waiting = nullptr, node = nullptr;
  CUgraphNode empty = add_empty(graph);
  CUDA_HOST_NODE_PARAMS call = {}, none = {}, got = {};
  call.fn = nothing;
  CUgraph of = nullptr;
  CUevent found = nullptr;
  CU_OK(cuGraphAddHostNode(&host, graph, nullptr, 0, &call));
  CU_OK(cuGraphAddChildGraphNode(&inner, graph, nullptr, 0, child));
  CU_OK(cuGraphAddEventRecordNode(&recorded, graph, nullptr, 0, event));
  CU_OK(cuGraphAddEventWaitNode(&waiting, graph, nullptr, 0, event));
  EXPECT_CUDA(cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddHostNode(&node, graph, nullptr, 0, &none), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphHostNodeGetParams(host, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphHostNodeGetParams(empty, &got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphHostNodeSetParams(host, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphHostNodeSetParams(empty, &call), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphChildGraphNodeGetGraph(empty, &of), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphChildGraphNodeGetGraph(inner, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEventRecordNode(nullptr, graph, nullptr, 0, event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEventWaitNode(nullptr, graph, nullptr, 0, event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphEventRecordNodeGetEvent(recorded, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphEventRecordNodeGetEvent(empty, &found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphEventRecordNodeSetEvent(empty, event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphEventWaitNodeGetEvent(waiting, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphEventWaitNodeGetEvent(empty, &found), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphEventWaitNodeSetEvent(empty, event), CUDA_ERROR_INVALID_VALUE);
}

CASE(memory_nodes) {
  Graph graph;
  CUgraphNode node = nullptr, empty = add_empty(graph);
  CUDA_MEM_ALLOC_NODE_PARAMS params = {}, got = {};
  params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  params.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  params.bytesize = 0;
  CUdeviceptr found = 0;
  EXPECT_CUDA(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemAllocNodeGetParams(empty, &got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemAllocNodeGetParams(empty, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddMemFreeNode(&node, graph, nullptr, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphMemFreeNodeGetParams(empty, &found), CUDA_ERROR_INVALID_VALUE);
  CUdevice device = check::the_device();
  cuuint64_t value = 7;
  const auto unknown = static_cast<CUgraphMem_attribute>(99);
  EXPECT_CUDA(cuDeviceGetGraphMemAttribute(device, unknown, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetGraphMemAttribute(99, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &value), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceSetGraphMemAttribute(device, unknown, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceSetGraphMemAttribute(device, CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
  CUgraphConditionalHandle handle = 0;
  EXPECT_CUDA(cuGraphConditionalHandleCreate(nullptr, graph, check::use_context(), 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphConditionalHandleCreate(&handle, nullptr, check::use_context(), 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphConditionalHandleCreate(&handle, graph, check::use_context(), 0, 0x80), CUDA_ERROR_INVALID_VALUE);
}

CASE(instantiated_graphs) {
  Graph graph, other;
  Memory memory(16);
  Event event;
  CUcontext context = check::use_context();
  Call call(put, memory.at, 1), late(put, memory.at, 2);
  const CUDA_MEMCPY3D copying = copy_of(memory.at, memory.at + 32);
  const CUDA_MEMSET_NODE_PARAMS filling = fill(memory.at);
  CUDA_HOST_NODE_PARAMS hosting = {};
  hosting.fn = nothing;
  CUgraphNode node = nullptr, empty = add_empty(graph), later = nullptr;
  CU_OK(cuGraphAddKernelNode(&node, graph, nullptr, 0, &call.params));
  Exec exec(graph);
  CU_OK(cuGraphAddKernelNode(&later, graph, nullptr, 0, &late.params));  // not part of exec
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams(exec, later, &late.params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams(exec, node, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecKernelNodeSetParams(nullptr, node, &late.params), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecMemcpyNodeSetParams(exec, node, &copying, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecMemsetNodeSetParams(exec, node, &filling, context), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecHostNodeSetParams(exec, node, &hosting), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecChildGraphNodeSetParams(exec, node, other), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecEventRecordNodeSetEvent(exec, node, event), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecEventWaitNodeSetEvent(exec, node, event), CUDA_ERROR_INVALID_VALUE);
  unsigned enabled = 0;
  EXPECT_CUDA(cuGraphNodeSetEnabled(exec, empty, 0), CUDA_ERROR_INVALID_VALUE);  // kernels, copies and fills only
  EXPECT_CUDA(cuGraphNodeGetEnabled(exec, empty, &enabled), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphNodeGetEnabled(exec, node, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecGetFlags(exec, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUgraphExecUpdateResultInfo info = {};
  EXPECT_CUDA(cuGraphExecUpdate(exec, other, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);  // other has no nodes
  EXPECT_CUDA(cuGraphExecUpdate(exec, nullptr, &info), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecUpdate(nullptr, graph, &info), CUDA_ERROR_INVALID_VALUE);
}

CASE(user_objects) {
  Graph graph;
  CUuserObject object = nullptr;
  const unsigned flags = CU_USER_OBJECT_NO_DESTRUCTOR_SYNC;
  EXPECT_CUDA(cuUserObjectCreate(nullptr, nullptr, nothing, 1, flags), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuUserObjectCreate(&object, nullptr, nullptr, 1, flags), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuUserObjectCreate(&object, nullptr, nothing, 0, flags), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuUserObjectCreate(&object, nullptr, nothing, 1, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuUserObjectCreate(&object, nullptr, nothing, 1, flags));
  EXPECT_CUDA(cuUserObjectRetain(object, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuUserObjectRetain(nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuUserObjectRelease(object, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuUserObjectRelease(nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphRetainUserObject(graph, object, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphRetainUserObject(graph, object, 1, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphRetainUserObject(nullptr, object, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphReleaseUserObject(graph, object, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphReleaseUserObject(nullptr, object, 1), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuUserObjectRelease(object, 1));
}

CHECK_MAIN()
