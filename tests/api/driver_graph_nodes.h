#pragma once

// What the driver API's tests of graphs share: nodes of kernels whose order shows.

#include "driver_objects.h"
#include "order_kernels.h"

inline CUfunction function_of(void (*kernel)(int*, int)) {
  check::use_context();
  cudaFunction_t function = nullptr;
  CUDA_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel)));
  return function;
}

/// A kernel of (int*, int) in a graph, by either version of its parameters.
template <typename Params>
struct CallBy {
  CUdeviceptr at;
  int value;
  void* arguments[2];
  Params params{};
  CallBy(void (*kernel)(int*, int), CUdeviceptr to, int number) : at(to), value(number), arguments{&at, &value} {
    params.func = function_of(kernel);
    params.gridDimX = params.gridDimY = params.gridDimZ = 1;
    params.blockDimX = params.blockDimY = params.blockDimZ = 1;
    params.kernelParams = arguments;
  }
  CallBy(const CallBy&) = delete;
};
using Call = CallBy<CUDA_KERNEL_NODE_PARAMS>;

inline CUgraphNode add_kernel(CUgraph graph, CUgraphNode after, void (*kernel)(int*, int), CUdeviceptr at, int value) {
  Call call(kernel, at, value);
  CUgraphNode node = nullptr;
  CU_OK(cuGraphAddKernelNode(&node, graph, &after, after ? 1 : 0, &call.params));
  return node;
}

inline CUgraphNode add_empty(CUgraph graph, CUgraphNode after = nullptr) {
  CUgraphNode node = nullptr;
  CU_OK(cuGraphAddEmptyNode(&node, graph, &after, after ? 1 : 0));
  return node;
}

inline void run(CUgraphExec exec) {
  Stream stream;
  CU_OK(cuGraphLaunch(exec, stream));
  CU_OK(cuStreamSynchronize(stream));
}
