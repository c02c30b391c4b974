#pragma once

#include "driver_types.h"

// make_cudaExtent and its family: "CUDA Runtime API, C++ API Routines".

static __inline__ __host__ struct cudaPitchedPtr make_cudaPitchedPtr(void* pointer, size_t pitch, size_t xsize,
                                                                     size_t ysize) {
  struct cudaPitchedPtr result;
  result.ptr = pointer;
  result.pitch = pitch;
  result.xsize = xsize;
  result.ysize = ysize;
  return result;
}
static __inline__ __host__ struct cudaPos make_cudaPos(size_t x, size_t y, size_t z) {
  struct cudaPos result;
  result.x = x;
  result.y = y;
  result.z = z;
  return result;
}
static __inline__ __host__ struct cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) {
  struct cudaExtent result;
  result.width = width;
  result.height = height;
  result.depth = depth;
  return result;
}
