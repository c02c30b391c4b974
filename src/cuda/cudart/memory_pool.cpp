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

// ---- pools: the structures have one layout under two names ----

static_assert(sizeof(cudaMemPoolProps) == sizeof(CUmemPoolProps));
static_assert(offsetof(cudaMemPoolProps, maxSize) == offsetof(CUmemPoolProps, maxSize));
static_assert(sizeof(cudaMemAccessDesc) == sizeof(CUmemAccessDesc) && sizeof(cudaMemLocation) == sizeof(CUmemLocation));
static_assert(sizeof(cudaMemPoolPtrExportData) == sizeof(CUmemPoolPtrExportData));

namespace {

CUmemLocation* driver_location(cudaMemLocation* location) {
  return reinterpret_cast<CUmemLocation*>(location);
}

}  // namespace

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* memPool, int device) {
  return with_driver([&](const Driver& cu) { return check(cu.cuDeviceGetDefaultMemPool(memPool, device)); });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* memPool, int device) {
  return with_driver([&](const Driver& cu) { return check(cu.cuDeviceGetMemPool(memPool, device)); });
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t memPool) {
  return with_driver([&](const Driver& cu) { return check(cu.cuDeviceSetMemPool(device, memPool)); });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* memPool, cudaMemLocation* location, cudaMemAllocationType type) {
  return with_driver([&](const Driver& cu) {
    return check(cu.cuMemGetDefaultMemPool(memPool, driver_location(location), static_cast<CUmemAllocationType>(type)));
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* memPool, cudaMemLocation* location, cudaMemAllocationType type) {
  return with_driver([&](const Driver& cu) {
    return check(cu.cuMemGetMemPool(memPool, driver_location(location), static_cast<CUmemAllocationType>(type)));
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t memPool) {
  return with_driver([&](const Driver& cu) {
    return check(cu.cuMemSetMemPool(driver_location(location), static_cast<CUmemAllocationType>(type), memPool));
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* memPool, const cudaMemPoolProps* poolProps) {
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
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolSetAccess(memPool, reinterpret_cast<const CUmemAccessDesc*>(descList), count));
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t memPool, cudaMemLocation* location) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(flags, "flags"));
    CUmemAccess_flags found{};
    TRY(check(cu.cuMemPoolGetAccess(&found, memPool, driver_location(location))));
    *flags = static_cast<cudaMemAccessFlags>(found);
    return {};
  });
}

cudaError_t cudaMemPoolExportToShareableHandle(void* shareableHandle, cudaMemPool_t memPool,
                                               cudaMemAllocationHandleType handleType, unsigned int flags) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolExportToShareableHandle(shareableHandle, memPool,
                                                     static_cast<CUmemAllocationHandleType>(handleType), flags));
  });
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* memPool, void* shareableHandle,
                                                 cudaMemAllocationHandleType handleType, unsigned int flags) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolImportFromShareableHandle(memPool, shareableHandle,
                                                       static_cast<CUmemAllocationHandleType>(handleType), flags));
  });
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* exportData, void* ptr) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPoolExportPointer(reinterpret_cast<CUmemPoolPtrExportData*>(exportData), address(ptr)));
  });
}

cudaError_t cudaMemPoolImportPointer(void** ptr, cudaMemPool_t memPool, cudaMemPoolPtrExportData* exportData) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(ptr, "ptr"));
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemPoolImportPointer(&block, memPool, reinterpret_cast<CUmemPoolPtrExportData*>(exportData))));
    *ptr = pointer(block);
    return {};
  });
}
