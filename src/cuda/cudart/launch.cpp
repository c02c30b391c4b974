// Launches. "CUDA Runtime API, Execution Control".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

Result<unsigned> shared_bytes(size_t bytes) {
  if (bytes <= UINT32_MAX) return static_cast<unsigned>(bytes);
  return fail(ErrorCode::InvalidValue, "{} bytes of shared memory are more than any device has", bytes);
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                             cudaStream_t stream) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(unsigned shared, shared_bytes(sharedMem));
    return check(cu.cuLaunchKernel(kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z, shared,
                                   stream, args, nullptr));
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* func, dim3 gridDim, dim3 blockDim, void** args, size_t sharedMem,
                                        cudaStream_t stream) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(unsigned shared, shared_bytes(sharedMem));
    return check(cu.cuLaunchCooperativeKernel(kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y,
                                              blockDim.z, shared, stream, args));
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* func, void** args) {
  static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute));  // one layout under two names
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(config, "config"));
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(unsigned shared, shared_bytes(config->dynamicSmemBytes));
    CUlaunchConfig launch{};
    launch.gridDimX = config->gridDim.x;
    launch.gridDimY = config->gridDim.y;
    launch.gridDimZ = config->gridDim.z;
    launch.blockDimX = config->blockDim.x;
    launch.blockDimY = config->blockDim.y;
    launch.blockDimZ = config->blockDim.z;
    launch.sharedMemBytes = shared;
    launch.hStream = config->stream;
    launch.attrs = reinterpret_cast<CUlaunchAttribute*>(config->attrs);
    launch.numAttrs = config->numAttrs;
    return check(cu.cuLaunchKernelEx(&launch, kernel, args, nullptr));
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void* userData) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(reinterpret_cast<const void*>(fn), "fn"));
    return check(cu.cuLaunchHostFunc(stream, fn, userData));
  });
}
