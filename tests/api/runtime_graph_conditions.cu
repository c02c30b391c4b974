// Graphs of the runtime API: conditional nodes. Oracle: "CUDA Runtime API, Graph Management" and "CUDA C++ Programming
// Guide, CUDA Graphs"; what the kernels compute is done again on the host. Public names only, so that the program can
// be built for a GPU too (with -rdc=true: kernels set conditions).

#include "graph_nodes.h"

namespace {

__global__ void countdown(cudaGraphConditionalHandle handle, int* left) {
  *left -= 1;
  cudaGraphSetConditional(handle, *left > 0 ? 1 : 0);
}
__global__ void choose(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, static_cast<unsigned>(*value));
}

cudaGraphNode_t add_conditional(cudaGraph_t graph, Nodes after, cudaGraphConditionalHandle handle,
                                cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t* bodies) {
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = type;
  params.conditional.size = size;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddNode(&node, graph, after.begin(), nullptr, after.size(), &params));
  for (unsigned i = 0; i < size; ++i) bodies[i] = params.conditional.phGraph_out[i];
  return node;
}

cudaGraphNode_t add_choice(cudaGraph_t graph, Nodes after, void* kernel, cudaGraphConditionalHandle handle, int* at) {
  void* arguments[] = {&handle, &at};
  cudaKernelNodeParams params{};
  params.func = kernel;
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddKernelNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}

void* kernel_of(void (*kernel)(cudaGraphConditionalHandle, const int*)) {
  return reinterpret_cast<void*>(kernel);
}

void set(int* device, int value) {
  CUDA_OK(cudaMemcpy(device, &value, sizeof value, cudaMemcpyHostToDevice));
}

}  // namespace

CASE(a_refused_node_leaves_its_handle_free) {
  Graph graph, other;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNode_t foreign = add_empty(other, {}), node = nullptr;
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeIf;
  params.conditional.size = 1;
  EXPECT_CUDA(cudaGraphAddNode(&node, graph, &foreign, nullptr, 1, &params), cudaErrorInvalidValue);
  cudaGetLastError();
  cudaGraph_t body = nullptr;
  add_conditional(graph, {}, handle, cudaGraphCondTypeIf, 1, &body);
  EXPECT(body != nullptr);
}

CASE(if_nodes) {
  Device value(1), out(1);
  Graph graph;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNode_t chosen = add_choice(graph, {}, kernel_of(choose), handle, value);
  cudaGraph_t bodies[2] = {};
  cudaGraphNode_t node = add_conditional(graph, {chosen}, handle, cudaGraphCondTypeIf, 2, bodies);
  add_kernel(bodies[0], {}, put, out, 1);
  add_kernel(bodies[1], {}, put, out, 2);
  add_kernel(graph, {node}, digit, out, 5);
  cudaGraphNodeType type{};
  CUDA_OK(cudaGraphNodeGetType(node, &type));
  EXPECT_EQUAL(type, cudaGraphNodeTypeConditional);
  Exec exec(graph);
  for (int taken : {1, 0, 7}) {
    set(value, taken);
    run(exec);
    EXPECT_EQUAL_AT(taken, out.value(), taken ? 15 : 25);
  }
}

CASE(while_nodes) {
  Device left(1), turns(1);
  Graph graph;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
  cudaGraph_t body = nullptr;
  add_conditional(graph, {}, handle, cudaGraphCondTypeWhile, 1, &body);
  cudaGraphNode_t first = add_kernel(body, {}, digit, turns, 1);
  void* arguments[2];
  int* at = left;
  arguments[0] = &handle;
  arguments[1] = &at;
  cudaKernelNodeParams params{};
  params.func = reinterpret_cast<void*>(countdown);
  params.gridDim = params.blockDim = dim3(1);
  params.kernelParams = arguments;
  cudaGraphNode_t last = nullptr;
  CUDA_OK(cudaGraphAddKernelNode(&last, body, &first, 1, &params));
  Exec exec(graph);
  for (int launches = 0; launches < 2; ++launches) {
    set(left, 4);
    set(turns, 0);
    run(exec);
    EXPECT_EQUAL(turns.value(), 1111);
    EXPECT_EQUAL(left.value(), 0);
  }
}

CASE(switch_and_nested_nodes) {
  Device value(1), again(1), out(1);
  Graph graph;
  cudaGraphConditionalHandle outer{}, inner{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&outer, graph, 0, cudaGraphCondAssignDefault));
  CUDA_OK(cudaGraphConditionalHandleCreate(&inner, graph, 0, cudaGraphCondAssignDefault));
  cudaGraphNode_t chosen = add_choice(graph, {}, kernel_of(choose), outer, value);
  cudaGraph_t bodies[3] = {}, nested = nullptr;
  add_conditional(graph, {chosen}, outer, cudaGraphCondTypeSwitch, 3, bodies);
  for (int i = 0; i < 2; ++i) add_kernel(bodies[i], {}, put, out, 10 + i);
  cudaGraphNode_t first = add_kernel(bodies[2], {}, put, out, 3);
  cudaGraphNode_t second = add_choice(bodies[2], {first}, kernel_of(choose), inner, again);
  add_conditional(bodies[2], {second}, inner, cudaGraphCondTypeIf, 1, &nested);
  add_kernel(nested, {}, digit, out, 4);
  Exec exec(graph);
  const int expected[] = {10, 11, 34, -1};
  set(again, 1);
  for (int i = 0; i < 4; ++i) {
    set(value, i);
    set(out, -1);
    run(exec);
    EXPECT_EQUAL_AT(i, out.value(), expected[i]);
  }
  set(value, 2);
  set(again, 0);
  run(exec);
  EXPECT_EQUAL(out.value(), 3);
}

CASE(refused_conditions) {
  Graph graph;
  cudaGraphConditionalHandle handle{};
  CUDA_OK(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNodeParams params = {cudaGraphNodeTypeConditional};
  params.conditional.handle = handle;
  params.conditional.type = cudaGraphCondTypeWhile;
  params.conditional.size = 2;
  cudaGraphNode_t node = nullptr;
  EXPECT_CUDA(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &params), cudaErrorInvalidValue);
  cudaGraphExec_t exec = nullptr;
  cudaGraphInstantiateParams instantiate{};
  EXPECT_CUDA(cudaGraphInstantiateWithParams(&exec, graph, &instantiate), cudaErrorInvalidValue);
  EXPECT_EQUAL(instantiate.result_out, cudaGraphInstantiateConditionalHandleUnused);
  (void)cudaGetLastError();
}

CHECK_MAIN()
