// Memory in stream order, and its pools. "CUDA Driver API, Stream Ordered Memory Allocator".

#include "runtime/memory_pool.h"
#include "runtime/graph_memory.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "cuda/driver/api.h"
#include "cuda/driver/location.h"
#include "runtime/memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<hal::Address> allocate_from(MemoryPool& pool, Stream& stream, size_t bytes) {
  return allocate_making_room(pool.device(), [&] { return pool.allocate(stream.context(), bytes); });
}

/// The device, and the kind of memory, that a place and a type of allocation mean.
struct Home {
  Device* device;
  MemoryKind kind;
};

/// Errors: InvalidValue; `elsewhere` for a location that never has pools. Both are those of an H200 (driver 580).
Result<Home> home_of(CUmemLocation location, CUmemAllocationType type, ErrorCode elsewhere) {
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED && type != CU_MEM_ALLOCATION_TYPE_MANAGED)
    return fail(ErrorCode::InvalidValue, "the allocation type is {}; give PINNED or MANAGED", static_cast<int>(type));
  const bool managed = type == CU_MEM_ALLOCATION_TYPE_MANAGED;
  TRY(Device * first, Runtime::get().device(0));
  if (location.type == CU_MEM_LOCATION_TYPE_NONE && managed)
    return Home{first, MemoryKind::Managed};  // documented: no preferred place
  if (static_cast<unsigned>(location.type) > CU_MEM_LOCATION_TYPE_HOST_NUMA)
    return fail(elsewhere, "location type {} has no memory pools", static_cast<int>(location.type));
  TRY(const Location place, with_code(location_of(location), ErrorCode::InvalidValue));
  if (managed) return Home{place.device ? place.device : first, MemoryKind::Managed};
  return place.device ? Home{place.device, MemoryKind::Device} : Home{first, MemoryKind::Pinned};
}

Result<> check_handle_type(CUmemAllocationHandleType type) {
  if (type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return {};
  if (type == CU_MEM_HANDLE_TYPE_WIN32 || type == CU_MEM_HANDLE_TYPE_WIN32_KMT || type == CU_MEM_HANDLE_TYPE_FABRIC)
    return fail(ErrorCode::NotSupported, "memory is shared by file descriptor only, not by handle type {}",
                static_cast<int>(type));
  return fail(ErrorCode::InvalidValue, "handle type {} is no way to share memory", static_cast<int>(type));
}

template <typename Use>
CUresult with_home(const void* result, const CUmemLocation* location, CUmemAllocationType type, Use use,
                   const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&]() -> Result<> {
        TRY(given(result, "pool"));
        TRY(given(location, "location"));
        TRY(const Home home, home_of(*location, type, ErrorCode::NotSupported));
        return use(home);
      },
      call);
}

}  // namespace

CUresult cuMemAllocAsync(CUdeviceptr* dptr, size_t bytesize, CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(given(dptr, "dptr"));
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    if (stream->capture()) {
      TRY(*dptr, capture_allocation(*stream, bytesize));
      return {};
    }
    TRY(auto pool, MemoryPools::get().current_of(stream->context().device(), MemoryKind::Device));
    TRY(*dptr, allocate_from(*pool, *stream, bytesize));
    return {};
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* dptr, size_t bytesize, CUmemoryPool pool, CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(given(dptr, "dptr"));
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    if (stream->capture()) {  // the graph owns it, as documented, and the pool's size is no limit: an H200 (driver 580)
      TRY(*dptr, capture_allocation(*stream, bytesize));
      return {};
    }
    TRY(*dptr, allocate_from(*found, *stream, bytesize));
    return {};
  });
}

CUresult cuMemFreeAsync(CUdeviceptr dptr, CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    return free_async(*stream, dptr);
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* poolProps) {
  return api_call([&]() -> Result<> {
    TRY(given(pool, "pool"));
    TRY(given(poolProps, "poolProps"));
    TRY(const Home home, home_of(poolProps->location, poolProps->allocType, ErrorCode::InvalidValue));
    const bool exportable = poolProps->handleTypes != CU_MEM_HANDLE_TYPE_NONE;
    if (exportable) TRY(check_handle_type(poolProps->handleTypes));
    if (exportable && home.kind == MemoryKind::Managed)
      return fail(ErrorCode::InvalidValue, "a pool of managed memory cannot be exported");
    TRY(auto made, MemoryPool::make(*home.device,
                                    {.kind = home.kind, .most_bytes = poolProps->maxSize, .exportable = exportable}));
    *pool = handle_of<CUmemoryPool>(MemoryPools::get().add(std::move(made)).get());
    return {};
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return api_call([&]() -> Result<> { return MemoryPools::get().remove(pool); });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t minBytesToKeep) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    found->trim(minBytesToKeep);
    return {};
  });
}

// ---- attributes ----

namespace {

/// High-water marks can be set to zero only, and then begin anew.
Result<> check_restart(cuuint64_t value) {
  if (value == 0) return {};
  return fail(ErrorCode::InvalidValue, "a high-water mark can be set to 0 only, not to {}", value);
}

size_t reuse_index(CUmemPool_attribute attribute) {
  return static_cast<size_t>(attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES);
}

std::unexpected<Error> no_attribute(CUmemPool_attribute attribute, const char* what) {
  return fail(ErrorCode::InvalidValue, "memory pool attribute {} {}", static_cast<int>(attribute), what);
}

Result<> set_attribute(MemoryPool& pool, CUmemPool_attribute attribute, const void* value) {
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      pool.reuse[reuse_index(attribute)] = *static_cast<const int*>(value) != 0;
      return {};
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      pool.set_release_threshold(*static_cast<const cuuint64_t*>(value));
      return {};
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      TRY(check_restart(*static_cast<const cuuint64_t*>(value)));
      pool.restart_most_held();
      return {};
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      TRY(check_restart(*static_cast<const cuuint64_t*>(value)));
      pool.restart_most_used();
      return {};
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return no_attribute(attribute, "can only be read");
  }
  return no_attribute(attribute, "is not one of CUmemPool_attribute");
}

Result<> get_attribute(const MemoryPool& pool, CUmemPool_attribute attribute, void* value) {
  auto* const number = static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *static_cast<int*>(value) = pool.reuse[reuse_index(attribute)];
      return {};
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      *number = pool.release_threshold();
      return {};
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      *number = pool.usage().held;
      return {};
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      *number = pool.usage().most_held;
      return {};
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      *number = pool.usage().used;
      return {};
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      *number = pool.usage().most_used;
      return {};
  }
  return no_attribute(attribute, "is not one of CUmemPool_attribute");
}

}  // namespace

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    return set_attribute(*found, attr, value);
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attr, void* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    return get_attribute(*found, attr, value);
  });
}

// ---- access ----

namespace {

/// Access is given to devices: "controls visibility of pools between devices". The codes are an H200's (driver 580).
Result<> check_accessor(CUmemLocation location) {
  if (location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return fail(ErrorCode::NotSupported, "access to a pool is given to devices, not to location type {}",
                static_cast<int>(location.type));
  TRY(location_of(location));
  return {};
}

bool is_home(const MemoryPool& pool, CUmemLocation location) {
  return location.type == CU_MEM_LOCATION_TYPE_DEVICE && location.id == pool.device().ordinal();
}

}  // namespace

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* map, size_t count) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    if (count) TRY(given(map, "map"));
    for (size_t i = 0; i < count; ++i) {
      TRY(check_accessor(map[i].location));
      const CUmemAccess_flags flags = map[i].flags;
      if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
          flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return fail(ErrorCode::InvalidValue, "the access flags {} are not valid", static_cast<int>(flags));
      if (is_home(*found, map[i].location) && flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
        return fail(ErrorCode::InvalidDevice, "a device always has full access to its own pools");
    }
    Lock lock(found->access_mutex);
    for (size_t i = 0; i < count; ++i)
      found->access[{static_cast<int>(map[i].location.type), map[i].location.id}] = static_cast<int>(map[i].flags);
    return {};
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool memPool, CUmemLocation* location) {
  return api_call([&]() -> Result<> {
    TRY(given(flags, "flags"));
    TRY(given(location, "location"));
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(memPool));
    if (location->type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
      return fail(ErrorCode::InvalidValue, "the access of a thread's NUMA node changes with the thread: name the node");
    TRY(with_code(location_of(*location), ErrorCode::InvalidValue));
    Lock lock(found->access_mutex);
    const auto set = found->access.find({static_cast<int>(location->type), location->id});
    *flags = set != found->access.end()   ? static_cast<CUmemAccess_flags>(set->second)
             : is_home(*found, *location) ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                                          : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    return {};
  });
}

// ---- a device's pools ----

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool_out, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(pool_out, "pool_out"));
    TRY(Device * device, Runtime::get().device(dev));  // documented with INVALID_DEVICE, alone among these
    TRY(std::shared_ptr<MemoryPool> pool, MemoryPools::get().default_of(*device, MemoryKind::Device));
    *pool_out = handle_of<CUmemoryPool>(pool.get());
    return {};
  });
}

CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice dev) {
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, dev};
  return forwarded([&] { return cuMemGetMemPool(pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED); });
}

CUresult cuDeviceSetMemPool(CUdevice dev, CUmemoryPool pool) {
  CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, dev};
  return forwarded([&] { return cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool); });
}

CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool_out, CUmemLocation* location, CUmemAllocationType type) {
  return with_home(pool_out, location, type, [&](const Home& home) -> Result<> {
    TRY(std::shared_ptr<MemoryPool> pool, MemoryPools::get().default_of(*home.device, home.kind));
    *pool_out = handle_of<CUmemoryPool>(pool.get());
    return {};
  });
}

CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location, CUmemAllocationType type) {
  return with_home(pool, location, type, [&](const Home& home) -> Result<> {
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().current_of(*home.device, home.kind));
    *pool = handle_of<CUmemoryPool>(found.get());
    return {};
  });
}

CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return with_home(pool, location, type, [&](const Home& home) -> Result<> {
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    return MemoryPools::get().set_current(*home.device, home.kind, std::move(found));
  });
}

// ---- sharing with other processes ----

namespace {

/// What CUmemPoolPtrExportData holds.
struct ExportedPointer {
  std::array<char, 8> mark;
  uint64_t offset, bytes;
};
constexpr std::array<char, 8> kMark = {'c', 'u', 'p', 'o', 'l', 'a', 'P', '1'};
static_assert(sizeof(ExportedPointer) <= sizeof(CUmemPoolPtrExportData));

}  // namespace

CUresult cuMemPoolExportToShareableHandle(void* handle_out, CUmemoryPool pool, CUmemAllocationHandleType handleType,
                                          unsigned long long flags) {
  return api_call([&]() -> Result<> {
    TRY(given(handle_out, "handle_out"));
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    TRY(check_handle_type(handleType));
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    TRY(const int descriptor, found->descriptor());
    const int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
    if (copy < 0) return fail(ErrorCode::OperatingSystem, "no file descriptor: {}", std::strerror(errno));
    *static_cast<int*>(handle_out) = copy;
    return {};
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool_out, void* handle, CUmemAllocationHandleType handleType,
                                            unsigned long long flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pool_out, "pool_out"));
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    TRY(check_handle_type(handleType));
    TRY(Device * device, Runtime::get().device(0));
    const auto descriptor = static_cast<int>(reinterpret_cast<intptr_t>(handle));  // documented: by value
    TRY(std::shared_ptr<MemoryPool> pool, MemoryPool::import(*device, descriptor));
    *pool_out = handle_of<CUmemoryPool>(MemoryPools::get().add(std::move(pool)).get());
    return {};
  });
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* shareData_out, CUdeviceptr ptr) {
  return api_call([&]() -> Result<> {
    TRY(given(shareData_out, "shareData_out"));
    const auto range = Runtime::get().addresses.find(ptr);
    if (!range || !range->pool || range->address != ptr)
      return fail(ErrorCode::InvalidValue, "{:#x} is no allocation of a memory pool", ptr);
    TRY(const uint64_t offset, range->pool->offset_of(ptr));
    const ExportedPointer exported{kMark, offset, range->size};
    *shareData_out = {};
    std::memcpy(shareData_out, &exported, sizeof exported);
    return {};
  });
}

CUresult cuMemPoolImportPointer(CUdeviceptr* ptr_out, CUmemoryPool pool, CUmemPoolPtrExportData* shareData) {
  return api_call([&]() -> Result<> {
    TRY(given(ptr_out, "ptr_out"));
    TRY(given(shareData, "shareData"));
    TRY(std::shared_ptr<MemoryPool> found, MemoryPools::get().find(pool));
    ExportedPointer exported;
    std::memcpy(&exported, shareData, sizeof exported);
    if (exported.mark != kMark)
      return fail(ErrorCode::InvalidValue, "shareData was not made by cuMemPoolExportPointer");
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(*ptr_out, found->import_pointer(*context, exported.offset, exported.bytes));
    return {};
  });
}
