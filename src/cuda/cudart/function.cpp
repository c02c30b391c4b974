// Kernels as values: what they need, what they are called, how many blocks fit. "CUDA Runtime API, Execution Control"
// and "Occupancy".

#include <concepts>

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"
#include "cuda/cudart/registry.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

/// Reads one attribute of a kernel into a field.
template <std::integral Field>
Result<> read(const Driver& cu, CUfunction kernel, CUfunction_attribute attribute, Field& field) {
  int value = 0;
  TRY(check(cu.cuFuncGetAttribute(&value, attribute, kernel)));
  field = static_cast<Field>(value);
  return {};
}

/// As read(), for what a device without clusters need not know.
void read_if_known(const Driver& cu, CUfunction kernel, CUfunction_attribute attribute, int& field) {
  int value = 0;
  if (cu.cuFuncGetAttribute(&value, attribute, kernel) == CUDA_SUCCESS) field = value;
}

}  // namespace

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attr, const void* func) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(attr, "attr"));
    *attr = {};
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, attr->sharedSizeBytes));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, attr->constSizeBytes));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, attr->localSizeBytes));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, attr->maxThreadsPerBlock));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_NUM_REGS, attr->numRegs));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_PTX_VERSION, attr->ptxVersion));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_BINARY_VERSION, attr->binaryVersion));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, attr->cacheModeCA));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, attr->maxDynamicSharedSizeBytes));
    TRY(read(cu, kernel, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, attr->preferredShmemCarveout));
    read_if_known(cu, kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, attr->clusterDimMustBeSet);
    read_if_known(cu, kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, attr->requiredClusterWidth);
    read_if_known(cu, kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, attr->requiredClusterHeight);
    read_if_known(cu, kernel, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, attr->requiredClusterDepth);
    read_if_known(cu, kernel, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                  attr->clusterSchedulingPolicyPreference);
    read_if_known(cu, kernel, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, attr->nonPortableClusterSizeAllowed);
    return {};
  });
}

cudaError_t cudaFuncSetAttribute(const void* func, cudaFuncAttribute attr, int value) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(cu.cuFuncSetAttribute(kernel, static_cast<CUfunction_attribute>(attr), value));
  });
}

cudaError_t cudaFuncSetCacheConfig(const void* func, cudaFuncCache cacheConfig) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(cu.cuFuncSetCacheConfig(kernel, static_cast<CUfunc_cache>(cacheConfig)));
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* func, cudaSharedMemConfig config) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(cu.cuFuncSetSharedMemConfig(kernel, static_cast<CUsharedconfig>(config)));
  });
}

cudaError_t cudaFuncGetName(const char** name, const void* func) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(name, "name"));
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(cu.cuFuncGetName(name, kernel));
  });
}

cudaError_t cudaFuncGetParamInfo(const void* func, size_t paramIndex, size_t* paramOffset, size_t* paramSize) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(paramOffset, "paramOffset"));
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(cu.cuFuncGetParamInfo(kernel, paramIndex, paramOffset, paramSize));
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* functionPtr, const void* symbolPtr) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(functionPtr, "functionPtr"));
    TRY(*functionPtr, Registry::get().function(cu, context, symbolPtr));
    return {};
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* kernelPtr, const void* entryFuncAddr) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(kernelPtr, "kernelPtr"));
    const Result<CUfunction> kernel = Registry::get().function(cu, context, entryFuncAddr);
    if (!kernel && kernel.error().code == ErrorCode::InvalidHandle)  // alone among these calls, as on an H200
      return fail(ErrorCode::InvalidDeviceFunction, "{}", kernel.error().message);
    if (!kernel) return fail(kernel.error());
    *kernelPtr = reinterpret_cast<cudaKernel_t>(*kernel);  // launches take either kind of handle
    return {};
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, const void* func, int blockSize,
                                                          size_t dynamicSMemSize) {
  return forwarded([&] {
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, func, blockSize, dynamicSMemSize,
                                                                  cudaOccupancyDefault);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, const void* func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(numBlocks, "numBlocks"));
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(
        cu.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, kernel, blockSize, dynamicSMemSize, flags));
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamicSmemSize, const void* func, int numBlocks,
                                                      int blockSize) {
  return with_context([&](const Driver& cu, CUcontext context) -> Result<> {
    TRY(given(dynamicSmemSize, "dynamicSmemSize"));
    TRY(CUfunction kernel, Registry::get().function(cu, context, func));
    return check(cu.cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, kernel, numBlocks, blockSize));
  });
}

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind f) {
  return {x, y, z, w, f};
}
