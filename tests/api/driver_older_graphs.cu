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
  Graph graph;
  CUgraphNode a = nullptr, b = nullptr, c = nullptr, from = nullptr, to = nullptr;
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
}

namespace {

/// The older calls of stream capture, of a given stream and of the calling thread's default stream.
struct CaptureCalls {
  CUresult (*begin)(CUstream);
  CUresult (*info)(CUstream, CUstreamCaptureStatus*, cuuint64_t*);
  CUresult (*info_v2)(CUstream, CUstreamCaptureStatus*, cuuint64_t*, CUgraph*, const CUgraphNode**, size_t*);
  CUresult (*update)(CUstream, CUgraphNode*, size_t, unsigned);
};

/// `named` is what these calls are given for `stream`.
void expect_captured(const CaptureCalls& call, CUstream named, CUstream stream) {
  Memory memory(1);
  CU_OK(call.begin(named));
  CU_OK(cuMemsetD32Async(memory.at, 6, 1, stream));
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0, same = 0;
  CU_OK(call.info(named, &status, &id));
  EXPECT_EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  CUgraph graph = nullptr, ended = nullptr;
  const CUgraphNode* dependencies = nullptr;
  size_t count = 0;
  CU_OK(call.info_v2(named, &status, &same, &graph, &dependencies, &count));
  EXPECT(id == same && count == 1);
  CUgraphNode fill = dependencies[0], beside = add_empty(graph);
  CU_OK(call.update(named, &beside, 1, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
  CU_OK(call.info_v2(named, &status, &same, &graph, &dependencies, &count));
  EXPECT_EQUAL(count, 2u);
  CU_OK(call.update(named, &fill, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  CU_OK(call.info_v2(named, &status, &same, &graph, &dependencies, &count));
  EXPECT(count == 1 && dependencies[0] == fill);
  CU_OK(cuStreamEndCapture(stream, &ended));
  EXPECT(ended == graph);
  CUgraphExec exec = nullptr;
  CUgraphNode wrong = nullptr;
  CU_OK(cuGraphInstantiate(&exec, graph, &wrong, nullptr, 0));
  run(exec);
  EXPECT_EQUAL(memory.value(), 6);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
}

}  // namespace

CASE(capture) {
  Stream stream;
  expect_captured(
      {cuStreamBeginCapture, cuStreamGetCaptureInfo, cuStreamGetCaptureInfo_v2, cuStreamUpdateCaptureDependencies},
      stream, stream);
}

CASE(capture_of_the_per_thread_stream) {
  expect_captured({cuStreamBeginCapture_ptsz, cuStreamGetCaptureInfo_ptsz, cuStreamGetCaptureInfo_v2_ptsz,
                   cuStreamUpdateCaptureDependencies_ptsz},
                  nullptr, CU_STREAM_PER_THREAD);
}

CHECK_MAIN()
