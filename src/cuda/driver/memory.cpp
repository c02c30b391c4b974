// Device, managed and host memory. "CUDA Driver API, Memory Management, Stream Ordered Memory Allocator".

#include "runtime/memory.h"

#include <algorithm>

#include "cuda/driver/api.h"
#include "runtime/memory_pool.h"
#include "runtime/virtual_memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

void* pointer(hal::Address address) {
  return reinterpret_cast<void*>(address);
}  // NOLINT(performance-no-int-to-ptr)

}  // namespace

CUresult cuMemGetInfo_v2(size_t* free, size_t* total) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Context> context, current_context());
    const uint64_t bytes = context->device().properties().memory_bytes;
    if (total) *total = bytes;  // either may be null, as an H200 (driver 580) has it
    if (free) *free = bytes - std::min(bytes, context->device().memory_in_use());
    return {};
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr* dptr, size_t bytesize) {
  return api_call([&]() -> Result<> {
    TRY(given(dptr, "dptr"));
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(*dptr, allocate(*context, bytesize, MemoryKind::Device, 0));
    return {};
  });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* dptr, size_t* pPitch, size_t WidthInBytes, size_t Height,
                            unsigned int ElementSizeBytes) {
  return api_call([&]() -> Result<> {
    TRY(given(dptr, "dptr"));
    TRY(given(pPitch, "pPitch"));
    if (ElementSizeBytes != 4 && ElementSizeBytes != 8 && ElementSizeBytes != 16)
      return fail(ErrorCode::InvalidValue, "ElementSizeBytes is {}; it may be 4, 8 or 16", ElementSizeBytes);
    if (WidthInBytes == 0 || Height == 0)
      return fail(ErrorCode::InvalidValue, "{} rows of {} bytes; each must be at least 1", Height, WidthInBytes);
    TRY(std::shared_ptr<Context> context, current_context());
    size_t bytes = 0;
    if (WidthInBytes > SIZE_MAX / 2 || __builtin_mul_overflow(pitch_for(WidthInBytes), Height, &bytes))
      return fail(ErrorCode::OutOfMemory, "{} rows of {} bytes were asked for", Height, WidthInBytes);
    TRY(*dptr, allocate(*context, bytes, MemoryKind::Device, 0));
    *pPitch = pitch_for(WidthInBytes);
    return {};
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* dptr, size_t bytesize, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(dptr, "dptr"));
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
      return fail(ErrorCode::InvalidValue, "flags are {:#x}; give CU_MEM_ATTACH_GLOBAL or CU_MEM_ATTACH_HOST", flags);
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(*dptr, allocate(*context, bytesize, MemoryKind::Managed, flags));
    return {};
  });
}

CUresult cuMemFree_v2(CUdeviceptr dptr) {
  return api_call([&]() -> Result<> {
    TRY(current_context_even_if_faulted());
    return free_memory(dptr);
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* pbase, size_t* psize, CUdeviceptr dptr) {
  return api_call([&]() -> Result<> {
    TRY(current_context());
    const auto range = Runtime::get().addresses.find(dptr);
    if (pbase) *pbase = range ? range->address : 0;
    if (psize) *psize = range ? range->size : 0;
    if (!range) return refuse(ErrorCode::NotFound);
    return {};
  });
}

// ---- host memory ----

CUresult cuMemHostAlloc(void** pp, size_t bytesize, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pp, "pp"));
    const unsigned all = CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
    if (Flags & ~all) return fail(ErrorCode::InvalidValue, "the flags {:#x} are not valid", Flags);
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(*pp, allocate_host(*context, bytesize, Flags));
    return {};
  });
}

CUresult cuMemAllocHost_v2(void** pp, size_t bytesize) {
  return forwarded([&] { return cuMemHostAlloc(pp, bytesize, 0); });
}

CUresult cuMemFreeHost(void* p) {
  return api_call([&]() -> Result<> { return p ? free_host(p) : Result<>{}; });
}

CUresult cuMemHostRegister_v2(void* p, size_t bytesize, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    const unsigned all = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_IOMEMORY |
                         CU_MEMHOSTREGISTER_READ_ONLY;
    if (Flags & ~all) return fail(ErrorCode::InvalidValue, "the flags {:#x} are not valid", Flags);
    TRY(std::shared_ptr<Context> context, current_context());
    return register_host(*context, p, bytesize, Flags);
  });
}

CUresult cuMemHostRegister(void* p, size_t bytesize, unsigned int Flags) {
  return forwarded([&] { return cuMemHostRegister_v2(p, bytesize, Flags); });
}

CUresult cuMemHostUnregister(void* p) {
  return api_call([&]() -> Result<> { return unregister_host(p); });
}

namespace {

Result<MemoryRange> host_range(const void* p) {
  auto range = Runtime::get().addresses.find(reinterpret_cast<hal::Address>(p));
  if (!range || !range->is_host()) return fail(ErrorCode::InvalidValue, "{} is not page-locked host memory", p);
  return *range;
}

}  // namespace

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* pdptr, void* p, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pdptr, "pdptr"));
    if (Flags != 0) return fail(ErrorCode::InvalidValue, "Flags are {:#x}; they must be 0", Flags);
    TRY(host_range(p));
    *pdptr = reinterpret_cast<CUdeviceptr>(p);  // addresses are unified
    return {};
  });
}

CUresult cuMemHostGetFlags(unsigned int* pFlags, void* p) {
  return api_call([&]() -> Result<> {
    TRY(given(pFlags, "pFlags"));
    TRY(MemoryRange range, host_range(p));
    if (range.kind != MemoryKind::Pinned)
      return fail(ErrorCode::InvalidValue, "{} was not allocated by cuMemHostAlloc", p);
    *pFlags = range.flags;
    return {};
  });
}

// ---- unified addressing: "CUDA Driver API, Unified Addressing" ----

namespace {

template <typename T>
Result<> answer(void* data, T value) {
  *static_cast<T*>(data) = value;
  return {};
}

/// How the memory can be given to other processes: a set of CUmemAllocationHandleType.
unsigned handle_types(const MemoryRange& range, CUdeviceptr at) {
  if (range.pool) return range.pool->properties().exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0;
  if (range.kind != MemoryKind::Mapped) return 0;
  const auto memory = VirtualMemory::get().memory_at(at);
  return memory ? static_cast<unsigned>((*memory)->handle_type) : 0;
}

unsigned access_flags(const MemoryRange& range, CUdeviceptr at) {
  if (range.kind != MemoryKind::Mapped) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  return VirtualMemory::get().access(at) == hal::Access::Read ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                                              : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

/// Errors: InvalidValue for an attribute that this kind of memory has not.
Result<> attribute_of(const MemoryRange& range, CUdeviceptr at, CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(data, handle_of<CUcontext>(range.context));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer<unsigned>(data, range.is_host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return answer<CUdeviceptr>(data, at);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!range.is_host() && range.kind != MemoryKind::Managed) return refuse(ErrorCode::InvalidValue);
      return answer(data, pointer(at));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return answer(data, range.kind == MemoryKind::Device && !range.pool);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return answer(data, false);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return answer<unsigned long long>(data, range.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return answer(data, range.kind == MemoryKind::Managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return answer(data, range.context->device().ordinal());
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return answer<CUdeviceptr>(data, range.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return answer<size_t>(data, range.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return answer(data, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return answer<unsigned long long>(data, handle_types(range, at));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return answer<unsigned>(data, access_flags(range, at));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return answer(data, handle_of<CUmemoryPool>(range.pool.get()));
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return refuse(ErrorCode::NotSupported);
  }
  return fail(ErrorCode::InvalidValue, "attribute {} is not one of CUpointer_attribute", static_cast<int>(attribute));
}

/// What cuPointerGetAttributes says of memory that the API does not know: it succeeds. Error: InvalidValue for a number
/// that is no attribute.
Result<> clear_answer(CUpointer_attribute attribute, void* data) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      *static_cast<bool*>(data) = false;
      return {};
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      *static_cast<unsigned*>(data) = 0;
      return {};
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = CU_DEVICE_INVALID;
      return {};
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return {};
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      *static_cast<uint64_t*>(data) = 0;
      return {};
  }
  return fail(ErrorCode::InvalidValue, "{} is no pointer attribute", static_cast<int>(attribute));
}

}  // namespace

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return api_call([&]() -> Result<> {
    TRY(given(data, "data"));
    const auto range = Runtime::get().addresses.find(ptr);
    if (!range) return refuse(ErrorCode::InvalidValue);  // how callers tell pageable memory
    return attribute_of(*range, ptr, attribute, data);
  });
}

CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr ptr) {
  return api_call([&]() -> Result<> {
    TRY(given(attributes, "attributes"));
    TRY(given(data, "data"));
    const auto range = Runtime::get().addresses.find(ptr);
    for (unsigned i = 0; i < numAttributes; ++i) {
      TRY(given(data[i], "an entry of data"));
      const Result<> known =
          range ? attribute_of(*range, ptr, attributes[i], data[i]) : refuse(ErrorCode::InvalidValue);
      if (known) continue;
      TRY(clear_answer(attributes[i], data[i]));
    }
    return {};
  });
}

CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute, CUdeviceptr ptr) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    if (attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
      return fail(ErrorCode::InvalidValue, "pointer attribute {} cannot be set", static_cast<int>(attribute));
    if (!Runtime::get().addresses.find(ptr)) return fail(ErrorCode::InvalidValue, "{:#x} is not device memory", ptr);
    return {};  // synchronous calls are synchronous here anyway
  });
}
