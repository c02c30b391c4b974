// What the driver refuses of memory pools, and of addresses and memory apart.
// Oracle: "CUDA Driver API", Stream Ordered Memory Allocator, Virtual Memory Management: the "Returns" of each.

#include "driver_allocations.h"

namespace {

constexpr size_t kMiB = 1 << 20;

CUmemoryPool default_pool() {
  CUmemoryPool pool = nullptr;
  check::use_context();
  CU_OK(cuDeviceGetDefaultMemPool(&pool, 0));
  return pool;
}

}  // namespace

CASE(pools) {
  check::use_context();
  CUmemoryPool pool = nullptr;
  CUmemPoolProps good = pool_of_device_memory(), nowhere = good, untyped = good;
  nowhere.location.id = 99;
  untyped.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_CUDA(cuMemPoolCreate(nullptr, &good), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolCreate(&pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolCreate(&pool, &untyped), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolCreate(&pool, &nowhere), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolDestroy(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolDestroy(default_pool()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolTrimTo(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetDefaultMemPool(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetDefaultMemPool(&pool, 99), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CUDA(cuDeviceSetMemPool(0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceSetMemPool(99, default_pool()), CUDA_ERROR_INVALID_VALUE);
  CUmemLocation place = {};
  place.type = CU_MEM_LOCATION_TYPE_DEVICE;
  const auto pinned = CU_MEM_ALLOCATION_TYPE_PINNED;
  EXPECT_CUDA(cuMemGetDefaultMemPool(nullptr, &place, pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetDefaultMemPool(&pool, nullptr, pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetMemPool(nullptr, &place, pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetMemPool(&pool, nullptr, pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemSetMemPool(nullptr, pinned, default_pool()), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemSetMemPool(&place, pinned, nullptr), CUDA_ERROR_INVALID_VALUE);
  place.id = 99;
  EXPECT_CUDA(cuMemGetDefaultMemPool(&pool, &place, pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetMemPool(&pool, &place, pinned), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemSetMemPool(&place, pinned, default_pool()), CUDA_ERROR_INVALID_VALUE);
}

CASE(what_pools_know) {
  CUmemoryPool pool = default_pool();
  cuuint64_t value = 7;
  const auto unknown = static_cast<CUmemPool_attribute>(99);
  EXPECT_CUDA(cuMemPoolGetAttribute(pool, unknown, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolSetAttribute(pool, unknown, &value), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &value),
              CUDA_ERROR_INVALID_VALUE);  // only to 0
  CUmemAccessDesc here = access_of(0), nowhere = access_of(99);
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  EXPECT_CUDA(cuMemPoolSetAccess(pool, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolSetAccess(nullptr, &here, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolSetAccess(pool, &nowhere, 1), CUDA_ERROR_INVALID_DEVICE);  // an H200 (driver 580)
  EXPECT_CUDA(cuMemPoolGetAccess(nullptr, pool, &here.location), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolGetAccess(&flags, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
}

// Oracle: an H200 (driver 580).
CASE(places_of_memory) {
  check::use_context();
  CUmemoryPool pool = nullptr;
  const CUmemPoolProps device_pool = pool_of_device_memory();
  CU_OK(cuMemPoolCreate(&pool, &device_pool));
  const CUmemGenericAllocationHandle mapped = create(granularity());
  CUdeviceptr at = 0;
  CU_OK(cuMemAddressReserve(&at, granularity(), 0, 0, 0));
  CU_OK(cuMemMap(at, granularity(), 0, mapped, 0));
  constexpr CUresult kGood = CUDA_SUCCESS, kInvalid = CUDA_ERROR_INVALID_VALUE, kNone = CUDA_ERROR_INVALID_DEVICE,
                     kUnsupported = CUDA_ERROR_NOT_SUPPORTED;
  struct Row {
    int type, id;
    CUresult set_access, get_access, make_pool, default_pool, make_memory, get_mapping;
  };
  const Row rows[] = {
      {CU_MEM_LOCATION_TYPE_INVALID, 0, kUnsupported, kInvalid, kInvalid, kInvalid, kInvalid, kNone},
      {CU_MEM_LOCATION_TYPE_DEVICE, 0, kGood, kGood, kGood, kGood, kGood, kGood},
      {CU_MEM_LOCATION_TYPE_DEVICE, 99, kNone, kInvalid, kInvalid, kInvalid, kNone, kNone},
      {CU_MEM_LOCATION_TYPE_HOST, 7, kUnsupported, kGood, kGood, kGood, kGood, kGood},
      {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, kUnsupported, kGood, kGood, kGood, kGood, kGood},
      {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 0, kUnsupported, kInvalid, kInvalid, kUnsupported, kInvalid, kNone},
      {77, 0, kUnsupported, kInvalid, kInvalid, kUnsupported, kInvalid, kNone},
      {-1, 0, kUnsupported, kInvalid, kInvalid, kUnsupported, kInvalid, kNone},
      {CU_MEM_LOCATION_TYPE_MAX, 0, kUnsupported, kInvalid, kInvalid, kUnsupported, kInvalid, kNone},
  };
  for (const Row& row : rows) {
    CUmemAccessDesc access = access_of(row.id);
    access.location.type = static_cast<CUmemLocationType>(row.type);
    CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    EXPECT_CUDA(cuMemPoolSetAccess(pool, &access, 1), row.set_access);
    EXPECT_CUDA(cuMemPoolGetAccess(&flags, pool, &access.location), row.get_access);
    CUmemPoolProps props = device_pool;
    props.location = access.location;
    CUmemoryPool made = nullptr, found = nullptr;
    EXPECT_CUDA(cuMemPoolCreate(&made, &props), row.make_pool);
    if (made) CU_OK(cuMemPoolDestroy(made));
    EXPECT_CUDA(cuMemGetDefaultMemPool(&found, &access.location, CU_MEM_ALLOCATION_TYPE_PINNED), row.default_pool);
    CUmemAllocationProp prop = device_memory();
    prop.location = access.location;
    CUmemGenericAllocationHandle memory = 0;
    EXPECT_CUDA(cuMemCreate(&memory, granularity(), &prop, 0), row.make_memory);
    if (memory) CU_OK(cuMemRelease(memory));
    unsigned long long mapping = 0;
    EXPECT_CUDA(cuMemGetAccess(&mapping, &access.location, at), row.get_mapping);
    if (row.make_memory != kGood) EXPECT_CUDA(cuMemSetAccess(at, granularity(), &access, 1), kInvalid);
  }
  CU_OK(cuMemUnmap(at, granularity()));
  CU_OK(cuMemAddressFree(at, granularity()));
  CU_OK(cuMemRelease(mapped));
  CU_OK(cuMemPoolDestroy(pool));
}

CASE(allocating_from_pools) {
  CUmemoryPool pool = default_pool();
  CUdeviceptr block = 0;
  EXPECT_CUDA(cuMemAllocAsync(nullptr, kMiB, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocAsync(&block, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocAsync(&block, size_t{1} << 50, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA(cuMemAllocFromPoolAsync(nullptr, kMiB, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, kMiB, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, size_t{1} << 50, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  char local[64];
  EXPECT_CUDA(cuMemFreeAsync(reinterpret_cast<CUdeviceptr>(local), nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAllocAsync(&block, kMiB, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
  EXPECT_CUDA(cuMemFreeAsync(block + 256, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFreeAsync(block, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
  EXPECT_CUDA(cuMemFreeAsync(block, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(pools_of_other_processes) {
  CUmemoryPool pool = default_pool();  // its memory cannot leave the process
  int handle = -1;
  const auto file = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  CUmemPoolPtrExportData data = {};
  CUdeviceptr block = 0, imported = 0;
  CU_OK(cuMemAllocAsync(&block, kMiB, nullptr));
  EXPECT_CUDA(cuMemPoolExportToShareableHandle(&handle, pool, file, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolExportToShareableHandle(nullptr, pool, file, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolImportFromShareableHandle(nullptr, nullptr, file, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolExportPointer(nullptr, block), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolExportPointer(&data, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolImportPointer(nullptr, pool, &data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolImportPointer(&imported, nullptr, &data), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPoolImportPointer(&imported, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFreeAsync(block, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
}

CASE(addresses_and_memory) {
  const size_t bytes = granularity();
  const CUmemAllocationProp prop = device_memory();
  CUmemGenericAllocationHandle memory = 0, none = 0;
  CUdeviceptr at = 0, made = 0;
  EXPECT_CUDA(cuMemAddressReserve(nullptr, bytes, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressReserve(&made, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressReserve(&made, bytes + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressReserve(&made, bytes, 3, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressReserve(&made, bytes, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemCreate(nullptr, bytes, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemCreate(&none, bytes, nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemCreate(&none, bytes + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemCreate(&none, size_t{1} << 50, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
  CU_OK(cuMemAddressReserve(&at, 4 * bytes, 0, 0, 0));
  CU_OK(cuMemCreate(&memory, 2 * bytes, &prop, 0));
  EXPECT_CUDA(cuMemMap(at, bytes + 1, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemMap(at, 2 * bytes, 0, memory, 1), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemMap(at, 2 * bytes, 0, memory, 0));
  EXPECT_CUDA(cuMemMap(at, 2 * bytes, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);  // mapped already
  EXPECT_CUDA(cuMemAddressFree(at + bytes, bytes), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemUnmap(at + 2 * bytes, 2 * bytes), CUDA_ERROR_INVALID_VALUE);  // nothing is mapped there
  CUmemAccessDesc here = access_of(0);
  unsigned long long flags = 0;
  EXPECT_CUDA(cuMemSetAccess(at, 2 * bytes, nullptr, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemSetAccess(at + 2 * bytes, bytes, &here, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetAccess(nullptr, &here.location, at), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetAccess(&flags, nullptr, at), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRetainAllocationHandle(nullptr, reinterpret_cast<void*>(at)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRetainAllocationHandle(&none, &none), CUDA_ERROR_INVALID_VALUE);
  int file = -1;
  EXPECT_CUDA(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
              CUDA_ERROR_INVALID_VALUE);  // not asked for when it was made
  EXPECT_CUDA(cuMemImportFromShareableHandle(nullptr, nullptr, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
              CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetAllocationPropertiesFromHandle(nullptr, memory), CUDA_ERROR_INVALID_VALUE);
  size_t size = 0;
  const auto minimum = CU_MEM_ALLOC_GRANULARITY_MINIMUM;
  EXPECT_CUDA(cuMemGetAllocationGranularity(nullptr, &prop, minimum), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemGetAllocationGranularity(&size, nullptr, minimum), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRelease(0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemUnmap(at, 2 * bytes));
  CU_OK(cuMemRelease(memory));
  CU_OK(cuMemAddressFree(at, 4 * bytes));
}

CHECK_MAIN()
