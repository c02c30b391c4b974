// Graphs of the driver API, function by function: their shape, the parameters of each kind of node, what they own.
// Oracle: "CUDA Driver API, Graph Management"; what the kernels compute is done again on the host. Public names only.

#include <climits>
#include <string>

#include "driver_graph_nodes.h"

namespace {

cuuint64_t graph_memory(CUgraphMem_attribute attribute) {
  cuuint64_t bytes = ~0ull;
  CU_OK(cuDeviceGetGraphMemAttribute(check::the_device(), attribute, &bytes));
  return bytes;
}

void add_one(void* at) {
  *static_cast<int*>(at) += 1;
}
void add_ten(void* at) {
  *static_cast<int*>(at) += 10;
}

}  // namespace

CASE(shape) {
  Graph graph;
  CUgraphNode a = add_empty(graph), b = add_empty(graph, a), c = add_empty(graph, a), nodes[4] = {}, from[4] = {},
              to[4] = {};
  size_t count = 4;
  CU_OK(cuGraphGetNodes(graph, nodes, &count));
  EXPECT(count == 3 && nodes[0] == a && nodes[1] == b && nodes[2] == c && nodes[3] == nullptr);
  CU_OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQUAL(count, 1u);
  CU_OK(cuGraphGetRootNodes(graph, nodes, &count));
  EXPECT(nodes[0] == a);
  count = 4;
  CU_OK(cuGraphGetEdges(graph, from, to, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  EXPECT(from[0] == a && from[1] == a && ((to[0] == b && to[1] == c) || (to[0] == c && to[1] == b)));
  count = 4;
  CU_OK(cuGraphNodeGetDependentNodes(a, to, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  CU_OK(cuGraphRemoveDependencies(graph, &a, &c, nullptr, 1));
  EXPECT_CUDA(cuGraphRemoveDependencies(graph, &a, &c, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphGetRootNodes(graph, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  CU_OK(cuGraphDestroyNode(b));
  CU_OK(cuGraphGetNodes(graph, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  EXPECT_CUDA(cuGraphDestroyNode(b), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphGetNodes(graph, nodes, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(clones_and_pictures) {
  Graph graph;
  CUgraphNode a = add_empty(graph), late = nullptr, found = nullptr;
  CUgraph clone = nullptr;
  CU_OK(cuGraphClone(&clone, graph));
  late = add_empty(graph, a);
  CU_OK(cuGraphNodeFindInClone(&found, a, clone));
  EXPECT(found != nullptr && found != a);
  EXPECT_CUDA(cuGraphNodeFindInClone(&found, late, clone), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphDestroy(clone));
  EXPECT_CUDA(cuGraphClone(nullptr, graph), CUDA_ERROR_INVALID_VALUE);
  const std::string path = "/tmp/cupola_driver_graph_" + std::to_string(getpid()) + ".dot";
  CU_OK(cuGraphDebugDotPrint(graph, path.c_str(), CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE));
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT(text.find("digraph") == 0 && text.find("->") != std::string::npos);
  unlink(path.c_str());
}

CASE(kernel_parameters_and_attributes) {
  Memory memory(1);
  Graph graph;
  CUgraphNode node = add_kernel(graph, nullptr, put, memory.at, 1),
              other = add_kernel(graph, node, digit, memory.at, 2);
  Call call(put, memory.at, 5);
  CU_OK(cuGraphKernelNodeSetParams(node, &call.params));
  CUgraphNodeParams general{};
  general.type = CU_GRAPH_NODE_TYPE_KERNEL;
  Call again(digit, memory.at, 6);
  general.kernel = again.params;
  CU_OK(cuGraphNodeSetParams(other, &general));
  CUkernelNodeAttrValue value{}, got{};
  value.priority = -1;
  CU_OK(cuGraphKernelNodeSetAttribute(node, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
  CU_OK(cuGraphKernelNodeCopyAttributes(other, node));
  CU_OK(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, &got));
  EXPECT_EQUAL(got.priority, -1);
  EXPECT_CUDA(cuGraphKernelNodeGetAttribute(other, CU_LAUNCH_ATTRIBUTE_PRIORITY, nullptr), CUDA_ERROR_INVALID_VALUE);
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(memory.value(), 56);
  unsigned enabled = 7;
  CU_OK(cuGraphNodeSetEnabled(exec, other, 0));
  CU_OK(cuGraphNodeGetEnabled(exec, other, &enabled));
  EXPECT_EQUAL(enabled, 0u);
  run(exec);
  EXPECT_EQUAL(memory.value(), 5);
}

CASE(host_and_fill_parameters) {
  Memory memory(2);
  CUcontext context = check::use_context();
  Graph graph;
  int calls = 0;
  CUgraphNode host = nullptr, fill = nullptr;
  CUDA_HOST_NODE_PARAMS one{add_one, &calls}, ten{add_ten, &calls}, got{};
  CU_OK(cuGraphAddHostNode(&host, graph, nullptr, 0, &one));
  CU_OK(cuGraphHostNodeSetParams(host, &ten));
  CU_OK(cuGraphHostNodeGetParams(host, &got));
  EXPECT(got.fn == add_ten && got.userData == &calls);
  CUDA_MEMSET_NODE_PARAMS set{memory.at, 0, 3, 4, 1, 1}, set_got{};
  CU_OK(cuGraphAddMemsetNode(&fill, graph, &host, 1, &set, context));
  set.value = 4;
  CU_OK(cuGraphMemsetNodeSetParams(fill, &set));
  CU_OK(cuGraphMemsetNodeGetParams(fill, &set_got));
  EXPECT_EQUAL(set_got.value, 4u);
  Exec exec(graph);
  run(exec);
  EXPECT(calls == 10 && memory.value() == 4);
  CU_OK(cuGraphExecHostNodeSetParams(exec, host, &one));
  set.value = 9;
  CU_OK(cuGraphExecMemsetNodeSetParams(exec, fill, &set, context));
  run(exec);
  EXPECT(calls == 11 && memory.value() == 9);
  EXPECT_CUDA(cuGraphHostNodeGetParams(fill, &got), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphExecHostNodeSetParams(exec, fill, &one), CUDA_ERROR_INVALID_VALUE);
}

CASE(children) {
  Memory memory(1);
  Graph graph, child, replacement;
  add_kernel(child, nullptr, digit, memory.at, 1);
  add_kernel(replacement, nullptr, digit, memory.at, 2);
  CUgraphNode node = nullptr;
  CUgraph inside = nullptr;
  CU_OK(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, child));
  CU_OK(cuGraphChildGraphNodeGetGraph(node, &inside));
  EXPECT(inside != nullptr && inside != child);
  Exec exec(graph);
  run(exec);
  CU_OK(cuGraphExecChildGraphNodeSetParams(exec, node, replacement));
  run(exec);
  EXPECT_EQUAL(memory.value(), 12);
  EXPECT_CUDA(cuGraphAddChildGraphNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(events) {
  Memory memory(1);
  Graph graph;
  Event first, second;
  CUgraphNode record = nullptr, wait = nullptr;
  CUevent got = nullptr;
  Stream stream, other;
  CU_OK(cuGraphAddEventRecordNode(&record, graph, nullptr, 0, first));
  CU_OK(cuGraphEventRecordNodeSetEvent(record, second));
  CU_OK(cuGraphEventRecordNodeGetEvent(record, &got));
  EXPECT(got == second.event);
  Exec records(graph);
  CU_OK(cuGraphExecEventRecordNodeSetEvent(records, record, first));
  float milliseconds = -1;
  EXPECT_CUDA(cuEventElapsedTime(&milliseconds, first, first), CUDA_ERROR_INVALID_HANDLE);  // not recorded yet
  run(records);
  CU_OK(cuEventElapsedTime(&milliseconds, first, first));
  EXPECT_EQUAL(milliseconds, 0.0f);
  Graph waiting;
  CU_OK(cuGraphAddEventWaitNode(&wait, waiting, nullptr, 0, first));
  CU_OK(cuGraphEventWaitNodeSetEvent(wait, second));
  CU_OK(cuGraphEventWaitNodeGetEvent(wait, &got));
  EXPECT(got == second.event);
  add_kernel(waiting, wait, digit, memory.at, 6);
  Exec waits(waiting);
  CU_OK(cuGraphExecEventWaitNodeSetEvent(waits, wait, second));
  // It holds until what was recorded before the launch, and no longer once it waits for what has happened.
  check::Gate gate;
  gate.close(stream);
  Call call(put, memory.at, 9);
  CU_OK(cuLaunchKernel(call.params.func, 1, 1, 1, 1, 1, 1, 0, stream, call.arguments, nullptr));
  CU_OK(cuEventRecord(second, stream));
  CU_OK(cuGraphLaunch(waits, other));
  EXPECT(gate.holds(other));
  EXPECT_EQUAL(memory.value(), 0);
  gate.release();
  CU_OK(cuStreamSynchronize(other));
  EXPECT_EQUAL(memory.value(), 96);
  CU_OK(cuGraphExecEventWaitNodeSetEvent(waits, wait, first));
  check::Gate second_gate;
  second_gate.close(stream);
  CU_OK(cuEventRecord(second, stream));
  CU_OK(cuGraphLaunch(waits, other));
  CU_OK(cuStreamSynchronize(other));
  EXPECT_EQUAL(memory.value(), 966);
  EXPECT_CUDA(cuEventQuery(second), CUDA_ERROR_NOT_READY);
  second_gate.release();
  CU_OK(cuStreamSynchronize(stream));
}

CASE(memory) {
  {
    Graph graph;
    CUDA_MEM_ALLOC_NODE_PARAMS params{}, got{};
    params.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    params.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, check::the_device()};
    params.bytesize = 4096;
    CUgraphNode allocate = nullptr, release = nullptr;
    CU_OK(cuGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &params));
    EXPECT(params.dptr != 0);
    CU_OK(cuGraphMemAllocNodeGetParams(allocate, &got));
    EXPECT(got.dptr == params.dptr && got.bytesize == 4096);
    CUgraphNode fill = add_kernel(graph, allocate, put, params.dptr, 8);
    CU_OK(cuGraphAddMemFreeNode(&release, graph, &fill, 1, params.dptr));
    CUdeviceptr freed = 0;
    CU_OK(cuGraphMemFreeNodeGetParams(release, &freed));
    EXPECT(freed == params.dptr);
    Exec exec(graph);
    run(exec);
    EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT) >= 4096);
  }
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH) >= 4096);
  cuuint64_t zero = 0;
  CU_OK(cuDeviceSetGraphMemAttribute(check::the_device(), CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &zero));
  EXPECT_EQUAL(graph_memory(CU_GRAPH_MEM_ATTR_USED_MEM_HIGH), 0u);
  CU_OK(cuDeviceGraphMemTrim(check::the_device()));
  EXPECT_EQUAL(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT), 0u);
  EXPECT(graph_memory(CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) >= 4096);
  EXPECT_CUDA(cuDeviceGraphMemTrim(99), CUDA_ERROR_INVALID_DEVICE);
}

CASE(instantiation) {
  Memory memory(1);
  Graph graph;
  add_kernel(graph, nullptr, digit, memory.at, 3);
  Stream stream;
  CUDA_GRAPH_INSTANTIATE_PARAMS params{};
  params.flags = CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
  params.hUploadStream = stream;
  CUgraphExec exec = nullptr;
  CU_OK(cuGraphInstantiateWithParams(&exec, graph, &params));
  EXPECT_EQUAL(params.result_out, CUDA_GRAPH_INSTANTIATE_SUCCESS);
  cuuint64_t flags = 0;
  CU_OK(cuGraphExecGetFlags(exec, &flags));
  EXPECT((flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0);
  CU_OK(cuGraphUpload(exec, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQUAL(memory.value(), 0);
  run(exec);
  EXPECT_EQUAL(memory.value(), 3);
  EXPECT_CUDA(cuGraphUpload(nullptr, stream), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphExecDestroy(exec));
}

CASE(user_objects) {
  static int destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  CU_OK(cuUserObjectCreate(&object, &destroyed, add_one, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  CU_OK(cuUserObjectRetain(object, 1));
  {
    Graph graph;
    CU_OK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
    CU_OK(cuUserObjectRetain(object, 1));
    CU_OK(cuGraphReleaseUserObject(graph, object, 1));
    EXPECT_EQUAL(destroyed, 0);
  }
  check::Gate::pause(10);
  EXPECT_EQUAL(destroyed, 0);  // one reference is ours
  CU_OK(cuUserObjectRelease(object, 1));
  for (int i = 0; i < 2000 && destroyed == 0; ++i) check::Gate::pause(1);
  EXPECT_EQUAL(destroyed, 1);
  EXPECT_CUDA(cuUserObjectCreate(&object, &destroyed, add_one, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

// A graph's references of one object are not cut to 32 bits.
CASE(many_references_to_a_user_object) {
  static int destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  check::use_context();
  CU_OK(cuUserObjectCreate(&object, &destroyed, add_one, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  {
    Graph graph;
    for (int i = 0; i < 4; ++i) CU_OK(cuGraphRetainUserObject(graph, object, INT_MAX, 0));
    CU_OK(cuUserObjectRelease(object, 1));
    EXPECT_EQUAL(destroyed, 0);
  }
  for (int i = 0; i < 2000 && destroyed == 0; ++i) check::Gate::pause(1);
  EXPECT_EQUAL(destroyed, 1);
}

// Moving more references than the caller has is the caller's mistake, which CUDA does not look for: the destructor
// never runs. Oracle: an H200 (driver 580).
CASE(moving_more_references_than_there_are) {
  static int destroyed;
  destroyed = 0;
  CUuserObject object = nullptr;
  check::use_context();
  CU_OK(cuUserObjectCreate(&object, &destroyed, add_one, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  {
    Graph graph;
    CU_OK(cuGraphRetainUserObject(graph, object, 2, CU_GRAPH_USER_OBJECT_MOVE));
  }
  check::Gate::pause(10);
  EXPECT_EQUAL(destroyed, 0);
}

CASE(capture_into_a_graph) {
  Memory memory(1);
  Graph graph;
  CUgraphNode first = add_kernel(graph, nullptr, put, memory.at, 4);
  Stream stream;
  CU_OK(cuStreamBeginCaptureToGraph(stream, graph, &first, nullptr, 1, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  Call call(digit, memory.at, 5), call2(digit, memory.at, 6);
  CU_OK(cuLaunchKernel(call.params.func, 1, 1, 1, 1, 1, 1, 0, stream, call.arguments, nullptr));
  // What comes next depends on the first node alone.
  CU_OK(cuStreamUpdateCaptureDependencies(stream, &first, nullptr, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  CUgraphNode beside = add_empty(graph, first);
  CU_OK(cuStreamUpdateCaptureDependencies(stream, &beside, nullptr, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  CUstreamCaptureStatus status{};
  size_t count = 0;
  CU_OK(cuStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, &count));
  EXPECT_EQUAL(count, 2u);
  CUgraph ended = nullptr;
  CU_OK(cuStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(memory.value(), 45);
}

CHECK_MAIN()
