#pragma once

// What kernels say to the graph that runs them. "CUDA Device Runtime API, cudaGraphSetConditional".

#include "../driver_types.h"

/// The value that the conditional node goes by. The handle is the address of that value in device memory.
static __device__ __inline__ __attribute__((always_inline)) void cudaGraphSetConditional(
    cudaGraphConditionalHandle handle, unsigned int value) {
  *reinterpret_cast<volatile unsigned int*>(handle) = value;
}
