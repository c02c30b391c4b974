// Addresses and memory apart. "CUDA Driver API, Virtual Memory Management".

#include "runtime/virtual_memory.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cuda/driver/api.h"
#include "cuda/driver/location.h"
#include "runtime/memory_pool.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

const void* object_of(CUmemGenericAllocationHandle handle) {
  return reinterpret_cast<const void*>(handle);  // NOLINT(performance-no-int-to-ptr)
}

CUmemGenericAllocationHandle handle_for(const PhysicalMemory* memory) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(memory);
}

/// The device that has the memory of the place: the first one the host's. Errors: InvalidDevice, InvalidValue.
Result<Device*> device_of(CUmemLocation location) {
  if (location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)  // documented
    return fail(ErrorCode::InvalidValue, "the NUMA node of the thread is no place for memory: name the node");
  TRY(const Location place, location_of(location));
  return place.device ? place.device : Runtime::get().device(0);
}

Result<Device*> checked(const CUmemAllocationProp& prop) {
  if (prop.type != CU_MEM_ALLOCATION_TYPE_PINNED)
    return fail(ErrorCode::InvalidValue, "the allocation type is {}; give CU_MEM_ALLOCATION_TYPE_PINNED",
                static_cast<int>(prop.type));
  if (prop.requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
    return fail(ErrorCode::NotSupported, "memory is shared by file descriptor only, not by handle type {}",
                static_cast<int>(prop.requestedHandleTypes));
  return device_of(prop.location);
}

Result<> no_flags(unsigned long long flags) {
  if (flags == 0) return {};
  return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
}

Result<> descriptor_only(CUmemAllocationHandleType type) {
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return {};
  return fail(type == CU_MEM_HANDLE_TYPE_NONE ? ErrorCode::InvalidValue : ErrorCode::NotSupported,
              "memory is shared by file descriptor only, not by handle type {}", static_cast<int>(type));
}

/// Errors: InvalidValue.
Result<hal::Access> access_of(const CUmemAccessDesc& desc) {
  TRY(with_code(device_of(desc.location), ErrorCode::InvalidValue));  // an H200 (driver 580), as below
  switch (desc.flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
      return hal::Access::None;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
      return hal::Access::Read;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
      return hal::Access::ReadWrite;
    case CU_MEM_ACCESS_FLAGS_PROT_MAX:
      break;
  }
  return fail(ErrorCode::InvalidValue, "the access flags {} are not valid", static_cast<int>(desc.flags));
}

}  // namespace

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* prop,
                                       CUmemAllocationGranularity_flags option) {
  return api_call([&]() -> Result<> {
    TRY(given(granularity, "granularity"));
    TRY(given(prop, "prop"));
    if (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM && option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
      return fail(ErrorCode::InvalidValue, "option is {}, which is no granularity", static_cast<int>(option));
    TRY(Device * device, checked(*prop));
    *granularity = device->hal().chunk_bytes();
    return {};
  });
}

CUresult cuMemAddressReserve(CUdeviceptr* ptr, size_t size, size_t alignment, CUdeviceptr, unsigned long long flags) {
  return api_call([&]() -> Result<> {
    TRY(given(ptr, "ptr"));
    TRY(no_flags(flags));
    TRY(Device * device, Runtime::get().device(0));
    TRY(*ptr, VirtualMemory::get().reserve(*device, size, alignment));  // the address asked for is a hint
    return {};
  });
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size) {
  return api_call([&]() -> Result<> { return VirtualMemory::get().free(ptr, size); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t size, const CUmemAllocationProp* prop,
                     unsigned long long flags) {
  return api_call([&]() -> Result<> {
    TRY(given(handle, "handle"));
    TRY(given(prop, "prop"));
    TRY(no_flags(flags));
    TRY(Device * device, checked(*prop));
    if (const uint64_t chunk = device->hal().chunk_bytes(); size == 0 || size % chunk)
      return fail(ErrorCode::InvalidValue, "{} bytes of memory: must be a multiple of the granularity, {}", size,
                  chunk);
    const bool exportable = prop->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
    TRY(std::shared_ptr<hal::Memory> memory,
        allocate_making_room(*device, [&] { return device->hal().create_memory(size, exportable); }));
    *handle = handle_for(VirtualMemory::get().add(
        std::make_shared<PhysicalMemory>(device, std::move(memory), static_cast<int>(prop->location.type),
                                         prop->location.id, static_cast<int>(prop->requestedHandleTypes))));
    return {};
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return api_call([&]() -> Result<> { return VirtualMemory::get().release(object_of(handle)); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* addr) {
  return api_call([&]() -> Result<> {
    TRY(given(handle, "handle"));
    TRY(const PhysicalMemory* memory, VirtualMemory::get().retain(reinterpret_cast<hal::Address>(addr)));
    *handle = handle_for(memory);
    return {};
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* prop, CUmemGenericAllocationHandle handle) {
  return api_call([&]() -> Result<> {
    TRY(given(prop, "prop"));
    TRY(const auto memory, VirtualMemory::get().find(object_of(handle)));
    *prop = {};
    prop->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop->requestedHandleTypes = static_cast<CUmemAllocationHandleType>(memory->handle_type);
    prop->location = {static_cast<CUmemLocationType>(memory->location_type), memory->location};
    return {};
  });
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  return api_call([&]() -> Result<> {
    TRY(no_flags(flags));
    return VirtualMemory::get().map(ptr, size, offset, object_of(handle));
  });
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size) {
  return api_call([&]() -> Result<> { return VirtualMemory::get().unmap(ptr, size); });
}

// Host and device reach memory by the same mapping: it gets the most that any of them is given.
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc* desc, size_t count) {
  return api_call([&]() -> Result<> {
    TRY(given(desc, "desc"));
    if (count == 0) return fail(ErrorCode::InvalidValue, "count is 0");
    hal::Access by_device = hal::Access::None, by_host = hal::Access::None;
    for (size_t i = 0; i < count; ++i) {  // the last one of a place counts
      TRY((desc[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE ? by_device : by_host), access_of(desc[i]));
    }
    return VirtualMemory::get().set_access(ptr, size, std::max(by_device, by_host));
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr ptr) {
  return api_call([&]() -> Result<> {
    TRY(given(flags, "flags"));
    TRY(given(location, "location"));
    TRY(with_code(device_of(*location), ErrorCode::InvalidDevice));
    TRY(const hal::Access access, VirtualMemory::get().access(ptr));
    *flags = access == hal::Access::None   ? CU_MEM_ACCESS_FLAGS_PROT_NONE
             : access == hal::Access::Read ? CU_MEM_ACCESS_FLAGS_PROT_READ
                                           : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    return {};
  });
}

CUresult cuMemExportToShareableHandle(void* shareableHandle, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType handleType, unsigned long long flags) {
  return api_call([&]() -> Result<> {
    TRY(given(shareableHandle, "shareableHandle"));
    TRY(no_flags(flags));
    TRY(descriptor_only(handleType));
    TRY(const auto memory, VirtualMemory::get().find(object_of(handle)));
    if (memory->handle_type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
      return fail(ErrorCode::InvalidValue, "the memory was not created to be shared by file descriptor");
    TRY(const int descriptor, memory->memory->descriptor());
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return fail(ErrorCode::OperatingSystem, "no file descriptor: {}", std::strerror(errno));
    *static_cast<int*>(shareableHandle) = copy;
    return {};
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* osHandle,
                                        CUmemAllocationHandleType shHandleType) {
  return api_call([&]() -> Result<> {
    TRY(given(handle, "handle"));
    TRY(descriptor_only(shHandleType));
    TRY(Device * device, Runtime::get().device(0));
    const auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(osHandle));  // documented: by value
    TRY(std::shared_ptr<hal::Memory> memory, device->hal().import_memory(descriptor));
    *handle = handle_for(VirtualMemory::get().add(std::make_shared<PhysicalMemory>(
        device, std::move(memory), static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE), device->ordinal(),
        static_cast<int>(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))));
    return {};
  });
}
