// Graphs of the runtime API: parameters of nodes, and updates. Oracle: "CUDA Runtime API, Graph Management" and "CUDA
// C++ Programming Guide, CUDA Graphs"; what the kernels compute is done again on the host. Public names only, so that
// the program can be built for a GPU too.

#include "graph_nodes.h"

namespace {

__global__ void put_other(int* at, int value) {
  *at = value + 1000;
}

__device__ int symbol[4];

}  // namespace

CASE(kernel_parameters) {
  Device memory(2);
  Graph graph;
  cudaGraphNode_t node = add_kernel(graph, {}, put, memory, 41);
  cudaKernelNodeParams got{};
  CUDA_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.func == reinterpret_cast<void*>(put));
  EXPECT(got.gridDim.x == 1 && got.blockDim.z == 1 && got.sharedMemBytes == 0);
  EXPECT(got.kernelParams != nullptr);
  if (got.kernelParams) {
    EXPECT(*static_cast<int**>(got.kernelParams[0]) == memory.at);
    EXPECT_EQUAL(*static_cast<int*>(got.kernelParams[1]), 41);
  }
  Exec exec(graph);
  Call other(put_other, memory + 1, 7);
  CUDA_OK(cudaGraphExecKernelNodeSetParams(exec, node, &other.params));
  run(exec);
  EXPECT_EQUAL(memory.value(0), 0);
  EXPECT_EQUAL(memory.value(1), 1007);
  CUDA_OK(cudaGraphKernelNodeSetParams(node, &other.params));
  CUDA_OK(cudaGraphKernelNodeGetParams(node, &got));
  EXPECT(got.func == reinterpret_cast<void*>(put_other));
  other.params.blockDim = dim3(4096);
  EXPECT_CUDA(cudaGraphKernelNodeSetParams(node, &other.params), cudaErrorInvalidValue);
  cudaMemsetParams wrong{memory, 0, 0, 4, 1, 1};
  EXPECT_CUDA(cudaGraphMemsetNodeSetParams(node, &wrong), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CASE(kernel_attributes) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_kernel(graph, {a}, put, memory, 2);
  int least = 0, greatest = 0;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  cudaLaunchAttributeValue value{}, got{};
  value.priority = greatest;
  CUDA_OK(cudaGraphKernelNodeSetAttribute(a, cudaLaunchAttributePriority, &value));
  CUDA_OK(cudaGraphKernelNodeGetAttribute(a, cudaLaunchAttributePriority, &got));
  EXPECT_EQUAL(got.priority, greatest);
  CUDA_OK(cudaGraphKernelNodeCopyAttributes(b, a));
  got.priority = 99;
  CUDA_OK(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributePriority, &got));
  EXPECT_EQUAL(got.priority, greatest);
  value = {};
  value.cooperative = 1;
  CUDA_OK(cudaGraphKernelNodeSetAttribute(b, cudaLaunchAttributeCooperative, &value));
  got = {};
  CUDA_OK(cudaGraphKernelNodeGetAttribute(b, cudaLaunchAttributeCooperative, &got));
  EXPECT_EQUAL(got.cooperative, 1);
  Exec exec(graph, cudaGraphInstantiateFlagUseNodePriority);
  run(exec);
  EXPECT_EQUAL(memory.value(), 2);
}

CASE(copy_and_fill_parameters) {
  Device memory(8);
  check::Managed<int> managed(8);
  Graph graph;
  cudaMemsetParams fill{memory, 0, 0x01020304, 4, 8, 1}, got{};
  cudaGraphNode_t filled = nullptr, copied = nullptr;
  CUDA_OK(cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &fill));
  CUDA_OK(cudaGraphMemsetNodeGetParams(filled, &got));
  EXPECT(got.dst == memory.at && got.value == 0x01020304 && got.elementSize == 4 && got.width == 8 && got.height == 1);
  CUDA_OK(cudaGraphAddMemcpyNode1D(&copied, graph, &filled, 1, managed, memory, 32, cudaMemcpyDefault));
  cudaMemcpy3DParms copy{};
  CUDA_OK(cudaGraphMemcpyNodeGetParams(copied, &copy));
  EXPECT(copy.srcPtr.ptr == memory.at && copy.extent.width == 32 && copy.extent.height == 1 && copy.extent.depth == 1);
  Exec exec(graph);
  fill.value = 5;
  CUDA_OK(cudaGraphExecMemsetNodeSetParams(exec, filled, &fill));
  CUDA_OK(cudaGraphExecMemcpyNodeSetParams1D(exec, copied, managed + 4, memory, 16, cudaMemcpyDefault));
  run(exec);
  EXPECT_EQUAL(managed[3], 0);
  EXPECT_EQUAL(managed[4], 5);
  // "For 1d memsets, changes in height are explicitly rejected."
  cudaMemsetParams two_rows{memory, 16, 5, 4, 2, 2};
  EXPECT_CUDA(cudaGraphExecMemsetNodeSetParams(exec, filled, &two_rows), cudaErrorInvalidValue);
  // What is set in the graph is in the next instance.
  fill.value = 6;
  CUDA_OK(cudaGraphMemsetNodeSetParams(filled, &fill));
  got = {};
  CUDA_OK(cudaGraphMemsetNodeGetParams(filled, &got));
  EXPECT_EQUAL(got.value, 6u);
  Exec next(graph);
  run(next);
  for (size_t i = 0; i < 8; ++i) EXPECT_EQUAL_AT(static_cast<long long>(i), managed[i], 6);
  fill.elementSize = 3;
  EXPECT_CUDA(cudaGraphMemsetNodeSetParams(filled, &fill), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CASE(symbols_in_nodes) {
  int host[4] = {1, 2, 3, 4}, back[4] = {};
  Graph graph;
  cudaGraphNode_t in = nullptr, out = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, symbol, host, 16, 0, cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &in, 1, back, symbol, 8, 8, cudaMemcpyDeviceToHost));
  Exec exec(graph);
  run(exec);
  EXPECT(back[0] == 3 && back[1] == 4 && back[2] == 0);
  int other[4] = {9, 8, 7, 6};
  CUDA_OK(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, symbol, other, 16, 0, cudaMemcpyHostToDevice));
  run(exec);
  EXPECT(back[0] == 7 && back[1] == 6);
  EXPECT_CUDA(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, symbol, host, 16, 4, cudaMemcpyHostToDevice),
              cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CASE(new_ends_of_copies) {
  int host[4] = {1, 2, 3, 4}, other[4] = {5, 6, 7, 8}, back[4] = {}, second[4] = {};
  Device memory(4);
  Graph graph;
  cudaGraphNode_t in = nullptr, up = nullptr, to = nullptr, from = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNode1D(&in, graph, nullptr, 0, memory, host, 16, cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphAddMemcpyNode1D(&up, graph, &in, 1, back, memory, 16, cudaMemcpyDeviceToHost));
  CUDA_OK(cudaGraphAddMemcpyNodeToSymbol(&to, graph, &up, 1, symbol, host, 16, 0, cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, second, symbol, 4, 0, cudaMemcpyDeviceToHost));
  // In the graph.
  CUDA_OK(cudaGraphMemcpyNodeSetParams1D(in, memory, other, 8, cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphMemcpyNodeSetParamsToSymbol(to, symbol, other, 16, 0, cudaMemcpyHostToDevice));
  CUDA_OK(cudaGraphMemcpyNodeSetParamsFromSymbol(from, second, symbol, 8, 8, cudaMemcpyDeviceToHost));
  EXPECT_CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(from, second, symbol, 8, 12, cudaMemcpyDeviceToHost),
              cudaErrorInvalidValue);
  Exec exec(graph);
  run(exec);
  EXPECT(back[0] == 5 && back[1] == 6 && back[2] == 0);
  EXPECT(second[0] == 7 && second[1] == 8 && second[2] == 0);
  // In what was made of it.
  CUDA_OK(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, second, symbol, 8, 0, cudaMemcpyDeviceToHost));
  cudaMemcpy3DParms whole{};
  whole.srcPtr = make_cudaPitchedPtr(host, 16, 16, 1);
  whole.dstPtr = make_cudaPitchedPtr(memory, 16, 16, 1);
  whole.extent = make_cudaExtent(8, 1, 1);
  whole.kind = cudaMemcpyHostToDevice;
  CUDA_OK(cudaGraphExecMemcpyNodeSetParams(exec, in, &whole));
  run(exec);
  EXPECT(back[0] == 1 && back[1] == 2);
  EXPECT(second[0] == 5 && second[1] == 6);
  whole.extent = make_cudaExtent(16, 1, 1);
  CUDA_OK(cudaGraphMemcpyNodeSetParams(in, &whole));
  Exec again(graph);
  run(again);
  EXPECT(back[2] == 3 && back[3] == 4);
  (void)cudaGetLastError();
}

CASE(copies_of_volumes) {
  constexpr size_t kWidth = 5, kHeight = 4, kDepth = 3;
  unsigned char host[kDepth][kHeight][kWidth], back[kDepth][kHeight][kWidth] = {};
  for (size_t i = 0; i < sizeof host; ++i) host[0][0][i] = static_cast<unsigned char>(i * 7);
  cudaPitchedPtr box{};
  CUDA_OK(cudaMalloc3D(&box, make_cudaExtent(kWidth, kHeight, kDepth)));
  Graph graph;
  cudaMemcpy3DParms in{}, out{};
  in.srcPtr = make_cudaPitchedPtr(host, kWidth, kWidth, kHeight);
  in.dstPtr = box;
  in.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  in.kind = cudaMemcpyHostToDevice;
  out.srcPtr = box;
  out.dstPtr = make_cudaPitchedPtr(back, kWidth, kWidth, kHeight);
  out.extent = in.extent;
  out.kind = cudaMemcpyDeviceToHost;
  cudaGraphNode_t first = nullptr, second = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNode(&first, graph, nullptr, 0, &in));
  CUDA_OK(cudaGraphAddMemcpyNode(&second, graph, &first, 1, &out));
  cudaMemcpy3DParms got{};
  CUDA_OK(cudaGraphMemcpyNodeGetParams(first, &got));
  EXPECT(got.srcPtr.ptr == host && got.extent.depth == kDepth && got.kind == cudaMemcpyHostToDevice);
  Exec exec(graph);
  run(exec);
  EXPECT(std::memcmp(host, back, sizeof host) == 0);
  CUDA_OK(cudaFree(box.ptr));
}

CASE(enabling_nodes) {
  Device memory(1);
  Graph graph;
  cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_kernel(graph, {a}, digit, memory, 2);
  cudaGraphNode_t c = add_kernel(graph, {b}, digit, memory, 3), empty = add_empty(graph, {c});
  Exec exec(graph);
  unsigned enabled = 99;
  CUDA_OK(cudaGraphNodeGetEnabled(exec, b, &enabled));
  EXPECT_EQUAL(enabled, 1u);
  CUDA_OK(cudaGraphNodeSetEnabled(exec, b, 0));
  CUDA_OK(cudaGraphNodeGetEnabled(exec, b, &enabled));
  EXPECT_EQUAL(enabled, 0u);
  run(exec);
  EXPECT_EQUAL(memory.value(), 13);
  CUDA_OK(cudaGraphNodeSetEnabled(exec, b, 1));
  run(exec);
  EXPECT_EQUAL(memory.value(), 123);
  EXPECT_CUDA(cudaGraphNodeSetEnabled(exec, empty, 0), cudaErrorInvalidValue);
}

CASE(nodes_of_any_type) {
  Device memory(4);
  int host = -1;
  Graph graph;
  cudaGraphNodeParams fill = {cudaGraphNodeTypeMemset}, kernel = {cudaGraphNodeTypeKernel},
                      copy = {cudaGraphNodeTypeMemcpy};
  fill.memset.dst = memory;
  fill.memset.value = 6;
  fill.memset.elementSize = 4;
  fill.memset.width = 4;
  fill.memset.height = 1;
  Call call(digit, memory, 5);
  kernel.kernel.func = call.function;
  kernel.kernel.gridDim = kernel.kernel.blockDim = dim3(1);
  kernel.kernel.kernelParams = call.arguments;
  copy.memcpy.copyParams.srcPtr = make_cudaPitchedPtr(memory.at, 4, 4, 1);
  copy.memcpy.copyParams.dstPtr = make_cudaPitchedPtr(&host, 4, 4, 1);
  copy.memcpy.copyParams.extent = make_cudaExtent(4, 1, 1);
  copy.memcpy.copyParams.kind = cudaMemcpyDeviceToHost;
  cudaGraphNode_t a = nullptr, b = nullptr, c = nullptr;
  CUDA_OK(cudaGraphAddNode(&a, graph, nullptr, nullptr, 0, &fill));
  CUDA_OK(cudaGraphAddNode(&b, graph, &a, nullptr, 1, &kernel));
  CUDA_OK(cudaGraphAddNode(&c, graph, &b, nullptr, 1, &copy));
  Exec exec(graph);
  run(exec);
  EXPECT_EQUAL(host, 65);
  call.value = 4;
  CUDA_OK(cudaGraphExecNodeSetParams(exec, b, &kernel));
  run(exec);
  EXPECT_EQUAL(host, 64);
  call.value = 3;
  CUDA_OK(cudaGraphNodeSetParams(b, &kernel));
  Exec again(graph);
  run(again);
  EXPECT_EQUAL(host, 63);
  EXPECT_CUDA(cudaGraphNodeSetParams(b, &fill), cudaErrorInvalidValue);
}

// ---- updates ----

namespace {

cudaGraphExecUpdateResultInfo update(cudaGraphExec_t exec, cudaGraph_t graph, cudaError_t expected) {
  cudaGraphExecUpdateResultInfo info{};
  EXPECT_CUDA(cudaGraphExecUpdate(exec, graph, &info), expected);
  (void)cudaGetLastError();
  return info;
}

}  // namespace

CASE(update_of_parameters) {
  Device memory(2);
  int host = 0;
  auto fill = [&](cudaGraph_t graph, void (*kernel)(int*, int), int value, int* at) {
    cudaGraphNode_t a = add_memset(graph, {}, at, 1, 1);
    cudaGraphNode_t b = add_kernel(graph, {a}, kernel, at, value), c = add_empty(graph, {a});
    cudaGraphNode_t both[] = {b, c}, d = nullptr;
    CUDA_OK(cudaGraphAddMemcpyNode1D(&d, graph, both, 2, &host, at, 4, cudaMemcpyDeviceToHost));
  };
  Graph first, second;
  fill(first, digit, 2, memory);
  fill(second, put_other, 3, memory + 1);
  Exec exec(first);
  run(exec);
  EXPECT_EQUAL(host, 12);
  EXPECT_EQUAL(update(exec, second, cudaSuccess).result, cudaGraphExecUpdateSuccess);
  run(exec);
  EXPECT_EQUAL(host, 1003);
}

CASE(refused_updates) {
  Device memory(16);
  Graph first;
  cudaGraphNode_t a = add_kernel(first, {}, put, memory, 1), b = add_memset(first, {a}, memory, 0, 1);
  (void)b;
  Exec exec(first);
  {
    Graph fewer;
    add_kernel(fewer, {}, put, memory, 1);
    EXPECT_EQUAL(update(exec, fewer, cudaErrorGraphExecUpdateFailure).result, cudaGraphExecUpdateErrorTopologyChanged);
  }
  {
    Graph unordered;
    add_kernel(unordered, {}, put, memory, 1);
    add_memset(unordered, {}, memory, 0, 1);
    EXPECT_EQUAL(update(exec, unordered, cudaErrorGraphExecUpdateFailure).result,
                 cudaGraphExecUpdateErrorTopologyChanged);
  }
  {
    Graph other_type;
    cudaGraphNode_t x = add_kernel(other_type, {}, put, memory, 1), y = add_kernel(other_type, {x}, put, memory, 1);
    const cudaGraphExecUpdateResultInfo info = update(exec, other_type, cudaErrorGraphExecUpdateFailure);
    EXPECT_EQUAL(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
    EXPECT(info.errorNode == y);
  }
  {
    Graph two_rows;
    cudaGraphNode_t x = add_kernel(two_rows, {}, put, memory, 1), y = nullptr;
    cudaMemsetParams params{memory, 32, 0, 4, 2, 2};
    CUDA_OK(cudaGraphAddMemsetNode(&y, two_rows, &x, 1, &params));
    const cudaGraphExecUpdateResultInfo info = update(exec, two_rows, cudaErrorGraphExecUpdateFailure);
    EXPECT_EQUAL(info.result, cudaGraphExecUpdateErrorParametersChanged);
    EXPECT(info.errorNode == y);
  }
  // Nothing has changed.
  run(exec);
  EXPECT_EQUAL(memory.value(), 0);
}

CASE(update_pairs_by_edges) {
  Device memory(2);
  auto fill = [&](cudaGraph_t graph, bool swapped) {
    cudaGraphNode_t a = add_kernel(graph, {}, put, memory, 1), b = add_memset(graph, {}, memory + 1, 0, 1);
    cudaGraphNode_t both[] = {swapped ? b : a, swapped ? a : b}, end = nullptr;
    CUDA_OK(cudaGraphAddEmptyNode(&end, graph, both, 2));
    return end;
  };
  Graph first, second;
  fill(first, false);
  fill(second, true);
  Exec exec(first);
  EXPECT_EQUAL(update(exec, second, cudaErrorGraphExecUpdateFailure).result, cudaGraphExecUpdateErrorNodeTypeChanged);
}

CHECK_MAIN()
