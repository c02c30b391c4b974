// Allocation, host memory, managed memory, and what a pointer is. "CUDA Runtime API, Memory Management".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

constexpr unsigned kPitchElementBytes = 16;  ///< rows are aligned for the widest vector load

Result<> allocate_pitched(const Driver& cu, void** memory, size_t* pitch, size_t width, size_t rows) {
  *memory = nullptr;
  *pitch = 0;
  if (width == 0 || rows == 0) return {};
  CUdeviceptr block = 0;
  TRY(check(cu.cuMemAllocPitch(&block, pitch, width, rows, kPitchElementBytes)));
  *memory = pointer(block);
  return {};
}

Result<> allocate_host(const Driver& cu, void** memory, size_t size, unsigned flags) {
  TRY(given(memory, "ptr"));
  *memory = nullptr;
  if (size == 0) return {};
  return check(cu.cuMemHostAlloc(memory, size, flags));
}

Result<> describe(const Driver& cu, cudaPointerAttributes& attributes, CUdeviceptr block) {
  attributes = {};
  attributes.device = cudaInvalidDeviceId;
  unsigned type = 0;
  if (auto status = check(cu.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, block)); !status) {
    if (status.error().code != ErrorCode::InvalidValue) return status;
    attributes.type = cudaMemoryTypeUnregistered;  // documented: not an error since CUDA 11.0
    return {};
  }
  unsigned managed = 0;
  TRY(check(cu.cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, block)));
  TRY(check(cu.cuPointerGetAttribute(&attributes.device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, block)));
  attributes.type =
      managed ? cudaMemoryTypeManaged : (type == CU_MEMORYTYPE_HOST ? cudaMemoryTypeHost : cudaMemoryTypeDevice);
  CUdeviceptr device = 0;
  if (cu.cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, block) == CUDA_SUCCESS) {
    attributes.devicePointer = pointer(device);
  }
  void* host = nullptr;
  if (attributes.type != cudaMemoryTypeDevice &&
      cu.cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, block) == CUDA_SUCCESS) {
    attributes.hostPointer = host;
  }
  return {};
}

CUmemLocation location_of(cudaMemLocation location) {
  CUmemLocation converted{};
  converted.type = static_cast<CUmemLocationType>(location.type);
  converted.id = location.id;
  return converted;
}

}  // namespace

cudaError_t cudaMalloc(void** devPtr, size_t size) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    *devPtr = nullptr;
    if (size == 0) return {};
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemAlloc(&block, size)));
    *devPtr = pointer(block);
    return {};
  });
}

cudaError_t cudaFree(void* devPtr) {
  // cudaFree(0) is how programs start the runtime.
  return with_context([&](const Driver& cu) { return devPtr ? check(cu.cuMemFree(address(devPtr))) : Result<>{}; });
}

cudaError_t cudaMallocHost(void** ptr, size_t size) {
  return with_context([&](const Driver& cu) { return allocate_host(cu, ptr, size, cudaHostAllocPortable); });
}

cudaError_t cudaHostAlloc(void** pHost, size_t size, unsigned int flags) {
  return with_context([&](const Driver& cu) { return allocate_host(cu, pHost, size, flags); });
}

cudaError_t cudaFreeHost(void* ptr) {
  return with_context([&](const Driver& cu) { return ptr ? check(cu.cuMemFreeHost(ptr)) : Result<>{}; });
}

cudaError_t cudaHostRegister(void* ptr, size_t size, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(ptr, "ptr"));
    return check(cu.cuMemHostRegister(ptr, size, flags));
  });
}

cudaError_t cudaHostUnregister(void* ptr) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(ptr, "ptr"));
    return check(cu.cuMemHostUnregister(ptr));
  });
}

cudaError_t cudaHostGetDevicePointer(void** pDevice, void* pHost, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pDevice, "pDevice"));
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemHostGetDevicePointer(&block, pHost, flags)));
    *pDevice = pointer(block);
    return {};
  });
}

cudaError_t cudaHostGetFlags(unsigned int* pFlags, void* pHost) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pFlags, "pFlags"));
    return check(cu.cuMemHostGetFlags(pFlags, pHost));
  });
}

cudaError_t cudaMallocManaged(void** devPtr, size_t size, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    *devPtr = nullptr;
    if (size == 0) return {};
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemAllocManaged(&block, size, flags)));
    *devPtr = pointer(block);
    return {};
  });
}

cudaError_t cudaMallocPitch(void** devPtr, size_t* pitch, size_t width, size_t height) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    TRY(given(pitch, "pitch"));
    return allocate_pitched(cu, devPtr, pitch, width, height);
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitchedDevPtr, cudaExtent extent) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pitchedDevPtr, "pitchedDevPtr"));
    size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) {
      return fail(ErrorCode::OutOfMemory, "{} times {} rows are too many", extent.height, extent.depth);
    }
    *pitchedDevPtr = {nullptr, 0, extent.width, extent.height};
    return allocate_pitched(cu, &pitchedDevPtr->ptr, &pitchedDevPtr->pitch, extent.width, rows);
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return with_context([&](const Driver& cu) { return check(cu.cuMemGetInfo(free, total)); });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* ptr) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(attributes, "attributes"));
    return describe(cu, *attributes, address(ptr));
  });
}

cudaError_t cudaMemAdvise(const void* devPtr, size_t count, cudaMemoryAdvise advice, cudaMemLocation location) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemAdvise(address(devPtr), count, static_cast<CUmem_advise>(advice), location_of(location)));
  });
}

cudaError_t cudaMemPrefetchAsync(const void* devPtr, size_t count, cudaMemLocation location, unsigned int flags,
                                 cudaStream_t stream) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPrefetchAsync(address(devPtr), count, location_of(location), flags, stream));
  });
}
