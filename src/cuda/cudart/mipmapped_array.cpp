// Mipmapped arrays, and what arrays and they need of memory. "CUDA Runtime API, Memory Management".

#include "cuda/cudart/channel_format.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

/// `ask(CUDA_ARRAY_SPARSE_PROPERTIES*)`; null where the program gave null.
template <typename Ask>
Result<> sparse_properties(cudaArraySparseProperties* to, Ask ask) {
  CUDA_ARRAY_SPARSE_PROPERTIES from{};
  TRY(check(ask(to ? &from : nullptr)));
  *to = {{from.tileExtent.width, from.tileExtent.height, from.tileExtent.depth},
         from.miptailFirstLevel,
         from.miptailSize,
         from.flags,
         {}};
  return {};
}

template <typename Ask>
Result<> memory_requirements(cudaArrayMemoryRequirements* to, Ask ask) {
  CUDA_ARRAY_MEMORY_REQUIREMENTS from{};
  TRY(check(ask(to ? &from : nullptr)));
  *to = {from.size, from.alignment, {}};
  return {};
}

}  // namespace

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* mipmappedArray, const cudaChannelFormatDesc* desc,
                                     cudaExtent extent, unsigned int numLevels, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(mipmappedArray, "mipmappedArray"));
    TRY(given(desc, "desc"));
    TRY(const CUDA_ARRAY3D_DESCRIPTOR shape, shape_of(*desc, extent, flags));
    CUmipmappedArray made = nullptr;
    TRY(check(cu.cuMipmappedArrayCreate(&made, &shape, numLevels)));
    *mipmappedArray = reinterpret_cast<cudaMipmappedArray_t>(made);
    return {};
  });
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* levelArray, cudaMipmappedArray_const_t mipmappedArray,
                                       unsigned int level) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(levelArray, "levelArray"));
    CUarray array = nullptr;
    TRY(check(cu.cuMipmappedArrayGetLevel(&array, driver_array(mipmappedArray), level)));
    *levelArray = reinterpret_cast<cudaArray_t>(array);
    return {};
  });
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmappedArray) {
  return with_context([&](const Driver& cu) {
    return mipmappedArray ? check(cu.cuMipmappedArrayDestroy(driver_array(mipmappedArray))) : Result<>{};
  });
}

cudaError_t cudaArrayGetSparseProperties(cudaArraySparseProperties* sparseProperties, cudaArray_t array) {
  return with_context([&](const Driver& cu) {
    return sparse_properties(sparseProperties,
                             [&](auto* to) { return cu.cuArrayGetSparseProperties(to, driver_array(array)); });
  });
}

cudaError_t cudaMipmappedArrayGetSparseProperties(cudaArraySparseProperties* sparseProperties,
                                                  cudaMipmappedArray_t mipmap) {
  return with_context([&](const Driver& cu) {
    return sparse_properties(
        sparseProperties, [&](auto* to) { return cu.cuMipmappedArrayGetSparseProperties(to, driver_array(mipmap)); });
  });
}

cudaError_t cudaArrayGetMemoryRequirements(cudaArrayMemoryRequirements* memoryRequirements, cudaArray_t array,
                                           int device) {
  return with_context([&](const Driver& cu) {
    return memory_requirements(
        memoryRequirements, [&](auto* to) { return cu.cuArrayGetMemoryRequirements(to, driver_array(array), device); });
  });
}

cudaError_t cudaMipmappedArrayGetMemoryRequirements(cudaArrayMemoryRequirements* memoryRequirements,
                                                    cudaMipmappedArray_t mipmap, int device) {
  return with_context([&](const Driver& cu) {
    return memory_requirements(memoryRequirements, [&](auto* to) {
      return cu.cuMipmappedArrayGetMemoryRequirements(to, driver_array(mipmap), device);
    });
  });
}
