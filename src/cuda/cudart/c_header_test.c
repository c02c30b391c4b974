// The headers as C reads them: this file compiles, and layout_test.cpp compares the sizes below with those of C++.

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <vector_functions.h>

size_t cupola_c_sizes(size_t* sizes) {
  const size_t known[] = {sizeof(struct cudaDeviceProp),     sizeof(struct cudaMemcpy3DParms),
                          sizeof(cudaLaunchConfig_t),        sizeof(cudaLaunchAttribute),
                          sizeof(struct cudaResourceDesc),   sizeof(struct cudaPointerAttributes),
                          sizeof(struct cudaFuncAttributes), sizeof(dim3)};
  const size_t count = sizeof known / sizeof known[0];
  for (size_t i = 0; i < count; ++i) sizes[i] = known[i];
  return count;
}

float cupola_c_vector_sum(void) {
  float4 v = make_float4(1, 2, 3, 4);
  return v.x + v.y + v.z + v.w;
}
