// cuda.h is a C header: this file only has to compile.
#include <cuda.h>

static int compiles_as_c(void) {
  CUdeviceptr pointer = 0;
  CUDA_MEMCPY2D copy = {0};
  CUlaunchConfig config = {0};
  (void)copy;
  (void)config;
  return (int)cuMemAlloc(&pointer, 4) + (int)cuStreamSynchronize(CU_STREAM_PER_THREAD);
}

int (*c_header_compiles)(void) = compiles_as_c;
