// Stream-ordered memory. "CUDA Runtime API, Stream Ordered Memory Allocator".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    *devPtr = nullptr;
    if (size == 0) return {};
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemAllocAsync(&block, size, hStream)));
    *devPtr = pointer(block);
    return {};
  });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
  return with_context(
      [&](const Driver& cu) { return devPtr ? check(cu.cuMemFreeAsync(address(devPtr), hStream)) : Result<>{}; });
}

cudaError_t cudaMallocFromPoolAsync(void** ptr, size_t size, cudaMemPool_t memPool, cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(ptr, "ptr"));
    *ptr = nullptr;
    if (size == 0) return {};
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemAllocFromPoolAsync(&block, size, memPool, stream)));
    *ptr = pointer(block);
    return {};
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
  return with_context([&](const Driver& cu) { return check(cu.cuDeviceGetDefaultMemPool(memPool, device)); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
  return with_context([&](const Driver& cu) { return check(cu.cuDeviceGetMemPool(memPool, device)); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
  return with_context([&](const Driver& cu) { return check(cu.cuDeviceSetMemPool(device, memPool)); });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool, const cudaMemPoolProps* poolProps) {
  static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));  // one layout under two names
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolCreate(memPool, reinterpret_cast<const CUmemPoolProps*>(poolProps)));
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t memPool) {
  return with_context([&](const Driver& cu) { return check(cu.cuMemPoolDestroy(memPool)); });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t memPool, size_t minBytesToKeep) {
  return with_context([&](const Driver& cu) { return check(cu.cuMemPoolTrimTo(memPool, minBytesToKeep)); });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolSetAttribute(memPool, static_cast<CUmemPool_attribute>(attr), value));
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t memPool, cudaMemPoolAttr attr, void* value) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolGetAttribute(memPool, static_cast<CUmemPool_attribute>(attr), value));
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t memPool, const cudaMemAccessDesc* descList, size_t count) {
  static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc));
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolSetAccess(memPool, reinterpret_cast<const CUmemAccessDesc*>(descList), count));
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t memPool, cudaMemLocation* location) {
  static_assert(sizeof(cudaMemLocation) == sizeof(CUmemLocation));
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolGetAccess(reinterpret_cast<CUmemAccess_flags*>(flags), memPool,
                                       reinterpret_cast<CUmemLocation*>(location)));
  });
}
