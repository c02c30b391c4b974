#pragma once

// What the tests of explicit graphs share: graphs that end by themselves, and their nodes.

#include <initializer_list>

#include "streams.h"

using Nodes = std::initializer_list<cudaGraphNode_t>;

/// A kernel of (int*, int) in a graph.
struct Call {
  void* function;
  int* at;
  int value;
  void* arguments[2];
  cudaKernelNodeParams params{};

  Call(void (*kernel)(int*, int), int* to, int number)
      : function(reinterpret_cast<void*>(kernel)), at(to), value(number), arguments{&at, &value} {
    params.func = function;
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
  }
  Call(const Call&) = delete;
};

inline cudaGraphNode_t add_kernel(cudaGraph_t graph, Nodes after, void (*kernel)(int*, int), int* at, int value) {
  Call call(kernel, at, value);
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddKernelNode(&node, graph, after.begin(), after.size(), &call.params));
  return node;
}

inline cudaGraphNode_t add_empty(cudaGraph_t graph, Nodes after) {
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddEmptyNode(&node, graph, after.begin(), after.size()));
  return node;
}

inline cudaGraphNode_t add_memset(cudaGraph_t graph, Nodes after, void* at, unsigned value, size_t ints) {
  cudaMemsetParams params{at, 0, value, 4, ints, 1};
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddMemsetNode(&node, graph, after.begin(), after.size(), &params));
  return node;
}

inline cudaGraphNode_t add_copy(cudaGraph_t graph, Nodes after, void* to, const void* from, size_t bytes) {
  cudaGraphNode_t node = nullptr;
  CUDA_OK(cudaGraphAddMemcpyNode1D(&node, graph, after.begin(), after.size(), to, from, bytes, cudaMemcpyDefault));
  return node;
}

struct Graph {
  cudaGraph_t graph = nullptr;
  Graph() { CUDA_OK(cudaGraphCreate(&graph, 0)); }
  ~Graph() {
    if (graph) CUDA_OK(cudaGraphDestroy(graph));
  }
  Graph(const Graph&) = delete;
  operator cudaGraph_t() const { return graph; }
};

struct Exec {
  cudaGraphExec_t exec = nullptr;
  explicit Exec(cudaGraph_t graph, unsigned long long flags = 0) { CUDA_OK(cudaGraphInstantiate(&exec, graph, flags)); }
  ~Exec() {
    if (exec) CUDA_OK(cudaGraphExecDestroy(exec));
  }
  Exec(const Exec&) = delete;
  operator cudaGraphExec_t() const { return exec; }
};

inline void run(cudaGraphExec_t exec, int times = 1) {
  Stream stream;
  for (int i = 0; i < times; ++i) CUDA_OK(cudaGraphLaunch(exec, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
}
