#pragma once

// What the driver API's tests of graphs share: memory that ends by itself, nodes of kernels whose order shows.

#include "driver.h"
#include "order_kernels.h"

inline CUfunction function_of(void (*kernel)(int*, int)) {
  check::use_context();
  cudaFunction_t function = nullptr;
  CUDA_OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(kernel)));
  return function;
}

struct Memory {
  CUdeviceptr at = 0;
  explicit Memory(size_t ints) {
    check::use_context();
    CU_OK(cuMemAlloc(&at, ints * 4));
    CU_OK(cuMemsetD32(at, 0, ints));
    CU_OK(cuCtxSynchronize());  // a fill of device memory is asynchronous
  }
  ~Memory() { CU_OK(cuMemFree(at)); }
  Memory(const Memory&) = delete;
  int value(size_t i = 0) const {
    int result = -1;
    CU_OK(cuMemcpyDtoH(&result, at + 4 * i, 4));
    return result;
  }
};

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

inline void run(CUgraphExec exec) {
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CU_OK(cuGraphLaunch(exec, stream));
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuStreamDestroy(stream));
}
