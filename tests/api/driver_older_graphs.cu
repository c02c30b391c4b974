// Graphs by the names that cuda.h of CUDA 13 renames: programs built for CUDA 10 to 12 call them. Oracle: "CUDA Driver
// API, Graph Management" of those versions.

#include "driver_graph_nodes.h"

#undef cuGraphAddKernelNode
#undef cuGraphKernelNodeGetParams
#undef cuGraphKernelNodeSetParams
#undef cuGraphExecKernelNodeSetParams
#undef cuGraphGetEdges
#undef cuGraphAddDependencies
#undef cuGraphRemoveDependencies
#undef cuGraphNodeGetDependencies
#undef cuGraphNodeGetDependentNodes
#undef cuGraphAddNode
#undef cuGraphInstantiate
#undef cuGraphExecUpdate
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamUpdateCaptureDependencies

using OlderCall = CallBy<CUDA_KERNEL_NODE_PARAMS_v1>;

CASE(kernels_and_edges) {
  Memory memory(1);
  CUgraph graph = nullptr;
  CUgraphNode a = nullptr, b = nullptr, c = nullptr, from = nullptr, to = nullptr;
  CU_OK(cuGraphCreate(&graph, 0));
  OlderCall first(put, memory.at, 1), second(digit, memory.at, 2), third(digit, memory.at, 3);
  CU_OK(cuGraphAddKernelNode(&a, graph, nullptr, 0, &first.params));
  CU_OK(cuGraphAddKernelNode(&b, graph, nullptr, 0, &second.params));
  CU_OK(cuGraphAddDependencies(graph, &a, &b, 1));
  size_t count = 1;
  CU_OK(cuGraphGetEdges(graph, &from, &to, &count));
  EXPECT(count == 1 && from == a && to == b);
  CU_OK(cuGraphNodeGetDependencies(b, &from, &count));
  EXPECT(count == 1 && from == a);
  CU_OK(cuGraphNodeGetDependentNodes(a, &to, &count));
  EXPECT(count == 1 && to == b);
  CUDA_KERNEL_NODE_PARAMS_v1 got{};
  CU_OK(cuGraphKernelNodeGetParams(b, &got));
  EXPECT(got.func == second.params.func && *static_cast<int*>(got.kernelParams[1]) == 2);
  CU_OK(cuGraphKernelNodeSetParams(b, &third.params));
  CUgraphNodeParams empty{};
  empty.type = CU_GRAPH_NODE_TYPE_EMPTY;
  CU_OK(cuGraphAddNode(&c, graph, &a, 1, &empty));
  CU_OK(cuGraphRemoveDependencies(graph, &a, &c, 1));
  CUgraphExec exec = nullptr, again = nullptr;
  CUgraphNode wrong = nullptr;
  char log[64] = "x";
  CU_OK(cuGraphInstantiate(&exec, graph, &wrong, log, sizeof log));
  CU_OK(cuGraphInstantiate_v2(&again, graph, &wrong, log, sizeof log));
  EXPECT(wrong == nullptr);
  run(exec);
  EXPECT_EQUAL(memory.value(), 13);
  CU_OK(cuGraphExecKernelNodeSetParams(exec, b, &second.params));
  run(exec);
  EXPECT_EQUAL(memory.value(), 12);
  CUgraphExecUpdateResult result = CU_GRAPH_EXEC_UPDATE_ERROR;
  CU_OK(cuGraphExecUpdate(again, graph, &wrong, &result));
  EXPECT_EQUAL(result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
  run(again);
  EXPECT_EQUAL(memory.value(), 13);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphExecDestroy(again));
  CU_OK(cuGraphDestroy(graph));
}

CASE(capture) {
  Memory memory(1);
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(cuStreamBeginCapture(stream));
  CU_OK(cuMemsetD32Async(memory.at, 6, 1, stream));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0, same = 0;
  CU_OK(cuStreamGetCaptureInfo(stream, &status, &id));
  EXPECT_EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph graph = nullptr, ended = nullptr;
  const CUgraphNode* dependencies = nullptr;
  size_t count = 0;
  CU_OK(cuStreamGetCaptureInfo_v2(stream, &status, &same, &graph, &dependencies, &count));
  EXPECT(id == same && count == 1);
  CUgraphNode fill = dependencies[0];
  CU_OK(cuStreamUpdateCaptureDependencies(stream, &fill, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  CU_OK(cuStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  CUgraphExec exec = nullptr;
  CUgraphNode wrong = nullptr;
  CU_OK(cuGraphInstantiate(&exec, graph, &wrong, nullptr, 0));
  run(exec);
  EXPECT_EQUAL(memory.value(), 6);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
  CU_OK(cuStreamDestroy(stream));
}

// The same in the default stream of the calling thread.
CASE(capture_of_the_per_thread_stream) {
  Memory memory(1);
  CU_OK(cuStreamBeginCapture_ptsz(nullptr));
  CU_OK(cuMemsetD32Async(memory.at, 6, 1, CU_STREAM_PER_THREAD));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0, same = 0;
  CU_OK(cuStreamGetCaptureInfo_ptsz(nullptr, &status, &id));
  EXPECT_EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph graph = nullptr, ended = nullptr;
  const CUgraphNode* dependencies = nullptr;
  size_t count = 0;
  CU_OK(cuStreamGetCaptureInfo_v2_ptsz(nullptr, &status, &same, &graph, &dependencies, &count));
  EXPECT(id == same && count == 1);
  CUgraphNode beside = nullptr;
  CU_OK(cuGraphAddEmptyNode(&beside, graph, nullptr, 0));
  CU_OK(cuStreamUpdateCaptureDependencies_ptsz(nullptr, &beside, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  CU_OK(cuStreamGetCaptureInfo_v2_ptsz(nullptr, &status, &same, &graph, &dependencies, &count));
  EXPECT_EQUAL(count, 2u);
  CU_OK(cuStreamEndCapture(CU_STREAM_PER_THREAD, &ended));
  EXPECT(ended == graph);
  CU_OK(cuGraphDestroy(graph));
}

CHECK_MAIN()
