// Graphs and stream capture of the driver API: what the runtime API does not show of them. Oracle: "CUDA Driver API,
// Graph Management, Stream Management"; what the kernels compute is done again on the host. Public names only.

#include "driver_graph_nodes.h"

CASE(kernel_nodes) {
  Memory memory(1);
  Graph graph;
  CUgraphNode first = add_kernel(graph, nullptr, put, memory.at, 3),
              second = add_kernel(graph, first, digit, memory.at, 4);
  CUDA_KERNEL_NODE_PARAMS got{};
  CU_OK(cuGraphKernelNodeGetParams(second, &got));
  EXPECT(got.func == function_of(digit));
  EXPECT_EQUAL(got.blockDimX, 1u);
  EXPECT(got.kernelParams && *static_cast<int*>(got.kernelParams[1]) == 4);
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(memory.value(), 34);
  Call other(digit, memory.at, 5);
  CU_OK(cuGraphExecKernelNodeSetParams(exec, second, &other.params));
  run(exec);
  EXPECT_EQUAL(memory.value(), 35);
  // Parameters as one packed block.
  struct {
    CUdeviceptr at;
    int value;
  } block = {memory.at, 6};
  size_t size = 12;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &block, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  other.params.kernelParams = nullptr;
  other.params.extra = extra;
  CU_OK(cuGraphExecKernelNodeSetParams(exec, second, &other.params));
  run(exec);
  EXPECT_EQUAL(memory.value(), 36);
  other.params.gridDimX = 0;
  EXPECT_CUDA(cuGraphAddKernelNode(&first, graph, nullptr, 0, &other.params), CUDA_ERROR_INVALID_VALUE);
}

CASE(copies_between_kinds_of_memory) {
  Memory memory(6);
  CUcontext context = check::use_context();
  int host[6] = {1, 2, 3, 4, 5, 6}, back[2] = {};
  Graph graph;
  CUgraphExec exec = nullptr;
  CUgraphNode in = nullptr, out = nullptr, fill = nullptr;
  CUDA_MEMCPY3D copy{}, got{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host;
  copy.srcPitch = 12;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = memory.at;
  copy.dstPitch = 12;
  copy.WidthInBytes = 12;
  copy.Height = 2;
  copy.Depth = 1;
  CU_OK(cuGraphAddMemcpyNode(&in, graph, nullptr, 0, &copy, context));
  CU_OK(cuGraphMemcpyNodeGetParams(in, &got));
  EXPECT(got.srcHost == host && got.dstDevice == memory.at && got.Height == 2);
  CUDA_MEMSET_NODE_PARAMS set{memory.at, 12, 9, 4, 1, 2};
  CU_OK(cuGraphAddMemsetNode(&fill, graph, &in, 1, &set, context));
  CUDA_MEMCPY3D down{};
  down.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  down.srcDevice = memory.at;
  down.srcXInBytes = 0;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = back;
  down.WidthInBytes = 8;
  down.Height = down.Depth = 1;
  CU_OK(cuGraphAddMemcpyNode(&out, graph, &fill, 1, &down, context));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  run(exec);
  EXPECT(back[0] == 9 && back[1] == 2);
  EXPECT_EQUAL(memory.value(3), 9);
  EXPECT_EQUAL(memory.value(5), 6);
  down.srcXInBytes = 16;
  CU_OK(cuGraphExecMemcpyNodeSetParams(exec, out, &down, context));
  run(exec);
  EXPECT(back[0] == 5 && back[1] == 6);
  // "CUDA_ERROR_INVALID_VALUE if ... either the original or new memory operands are multidimensional"
  EXPECT_CUDA(cuGraphExecMemcpyNodeSetParams(exec, out, &copy, context), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphExecDestroy(exec));
  // What is set in the graph is in the next instance.
  down.srcXInBytes = 12;
  CU_OK(cuGraphMemcpyNodeSetParams(out, &down));
  got = {};
  CU_OK(cuGraphMemcpyNodeGetParams(out, &got));
  EXPECT(got.dstHost == back && got.srcXInBytes == 12);
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  run(exec);
  EXPECT(back[0] == 9 && back[1] == 5);
  down.dstMemoryType = static_cast<CUmemorytype>(77);
  EXPECT_CUDA(cuGraphMemcpyNodeSetParams(out, &down), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuGraphExecDestroy(exec));
}

CASE(general_node_parameters) {
  Memory memory(1);
  Graph graph;
  CUgraph child = nullptr;
  CU_OK(cuGraphCreate(&child, 0));
  add_kernel(child, nullptr, digit, memory.at, 2);
  CUgraphNodeParams fill{}, inner{}, empty{};
  fill.type = CU_GRAPH_NODE_TYPE_MEMSET;
  fill.memset.dst = memory.at;
  fill.memset.value = 1;
  fill.memset.elementSize = 4;
  fill.memset.width = fill.memset.height = 1;
  inner.type = CU_GRAPH_NODE_TYPE_GRAPH;
  inner.graph.graph = child;
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphNode a = nullptr, b = nullptr, c = nullptr;
  CU_OK(cuGraphAddNode(&a, graph, nullptr, nullptr, 0, &fill));
  CU_OK(cuGraphAddNode(&b, graph, &a, nullptr, 1, &inner));
  CU_OK(cuGraphAddNode(&c, graph, &b, nullptr, 1, &empty));
  CUgraphNodeType type{};
  CU_OK(cuGraphNodeGetType(b, &type));
  EXPECT_EQUAL(type, CU_GRAPH_NODE_TYPE_GRAPH);
  Exec exec(graph);
  CU_OK(cuGraphDestroy(child));
  run(exec);
  EXPECT_EQUAL(memory.value(), 12);
  fill.memset.value = 3;
  CU_OK(cuGraphExecNodeSetParams(exec, a, &fill));
  run(exec);
  EXPECT_EQUAL(memory.value(), 32);
  fill.reserved2 = 1;
  EXPECT_CUDA(cuGraphAddNode(&a, graph, nullptr, nullptr, 0, &fill), CUDA_ERROR_INVALID_VALUE);
}

CASE(edges_with_data) {
  Graph graph;
  CUgraphNode a = add_empty(graph), b = add_empty(graph), nodes[2] = {};
  CUgraphEdgeData data{};
  CU_OK(cuGraphAddDependencies(graph, &a, &b, &data, 1));
  size_t count = 2;
  CUgraphEdgeData got[2];
  std::memset(got, 0xff, sizeof got);
  CU_OK(cuGraphNodeGetDependencies(b, nodes, got, &count));
  EXPECT_EQUAL(count, 1u);
  EXPECT(nodes[0] == a && nodes[1] == nullptr);
  EXPECT(got[0].type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT && got[0].from_port == 0);
}

CASE(conditional_if_with_a_default) {
  Memory memory(1);
  CUcontext context = check::use_context();
  Graph graph;
  CUgraphNode node = nullptr;
  CUgraphConditionalHandle handle = 0;
  // Nothing sets it: the body of an IF runs at each launch, as the default says.
  CU_OK(cuGraphConditionalHandleCreate(&handle, graph, context, 1, CU_GRAPH_COND_ASSIGN_DEFAULT));
  CUgraphNodeParams params{};
  params.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
  params.conditional.handle = handle;
  params.conditional.type = CU_GRAPH_COND_TYPE_IF;
  params.conditional.size = 1;
  params.conditional.ctx = context;
  CU_OK(cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &params));
  add_kernel(params.conditional.phGraph_out[0], nullptr, digit, memory.at, 7);
  Exec exec(graph);
  run(exec);
  run(exec);
  EXPECT_EQUAL(memory.value(), 77);
}

CASE(update_result) {
  Memory memory(1);
  Graph first, second;
  add_kernel(first, nullptr, put, memory.at, 1);
  CUgraphNode x = add_kernel(second, nullptr, put, memory.at, 2);
  Exec exec(first);
  CUgraphExecUpdateResultInfo info{};
  CU_OK(cuGraphExecUpdate(exec, second, &info));
  EXPECT_EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(exec);
  EXPECT_EQUAL(memory.value(), 2);
  add_kernel(second, x, put, memory.at, 3);
  EXPECT_CUDA(cuGraphExecUpdate(exec, second, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
  EXPECT_EQUAL(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
}

CASE(capture) {
  Memory memory(2);
  Stream stream, other;
  Event fork(CU_EVENT_DISABLE_TIMING), join(CU_EVENT_DISABLE_TIMING);
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  CU_OK(cuMemsetD32Async(memory.at, 5, 1, stream));
  CU_OK(cuEventRecord(fork, stream));
  CU_OK(cuStreamWaitEvent(other, fork, 0));
  CU_OK(cuMemcpyDtoDAsync(memory.at + 4, memory.at, 4, other));
  CU_OK(cuEventRecord(join, other));
  CU_OK(cuStreamWaitEvent(stream, join, 0));
  Call call(digit, memory.at + 4, 6);
  CU_OK(cuLaunchKernel(call.params.func, 1, 1, 1, 1, 1, 1, 0, stream, call.arguments, nullptr));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr, ended = nullptr;
  const CUgraphNode* dependencies = nullptr;
  size_t count = 0;
  CU_OK(cuStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
  EXPECT_EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQUAL(count, 1u);
  CUgraphNodeType type{};
  CU_OK(cuGraphNodeGetType(dependencies[0], &type));
  EXPECT_EQUAL(type, CU_GRAPH_NODE_TYPE_KERNEL);
  CU_OK(cuStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(memory.value(1), 56);
  CU_OK(cuGraphDestroy(graph));
}

// Oracle: the answers of an H200 (driver 580, CUDA 13.0).
CASE(refusals) {
  Graph graph;
  CUgraphNode node = nullptr;
  EXPECT_CUDA(cuGraphAddHostNode(&node, nullptr, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUstreamCaptureMode mode = static_cast<CUstreamCaptureMode>(5);
  CU_OK(cuThreadExchangeStreamCaptureMode(&mode));  // any number is taken
  EXPECT_EQUAL(static_cast<int>(mode), static_cast<int>(CU_STREAM_CAPTURE_MODE_GLOBAL));
  CU_OK(cuThreadExchangeStreamCaptureMode(&mode));
}

CHECK_MAIN()
