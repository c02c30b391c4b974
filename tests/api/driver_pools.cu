// Memory pools of the driver API. Oracle: "CUDA Driver API, Stream Ordered Memory Allocator"; runtime_pools.cu has the
// passages for what both interfaces share.

#include <unistd.h>

#include "driver_allocations.h"

namespace {

constexpr size_t kMiB = 1 << 20;

CUmemoryPool make_pool(CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
  const CUmemPoolProps properties = pool_of_device_memory(handles);
  CUmemoryPool pool = nullptr;
  CU_OK(cuMemPoolCreate(&pool, &properties));
  return pool;
}

cuuint64_t number(CUmemoryPool pool, CUmemPool_attribute attribute) {
  cuuint64_t value = ~0ull;
  CU_OK(cuMemPoolGetAttribute(pool, attribute, &value));
  return value;
}

}  // namespace

CASE(pools_of_a_device) {
  check::use_context();
  CUmemoryPool first = nullptr, current = nullptr, own = make_pool();
  CU_OK(cuDeviceGetDefaultMemPool(&first, 0));
  CU_OK(cuDeviceGetMemPool(&current, 0));
  EXPECT(first && first == current);
  CU_OK(cuDeviceSetMemPool(0, own));
  CU_OK(cuDeviceGetMemPool(&current, 0));
  EXPECT(current == own);
  CUmemLocation place = {};
  place.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CU_OK(cuMemGetMemPool(&current, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT(current == own);
  CU_OK(cuMemGetDefaultMemPool(&current, &place, CU_MEM_ALLOCATION_TYPE_PINNED));
  EXPECT(current == first);
  CU_OK(cuMemSetMemPool(&place, CU_MEM_ALLOCATION_TYPE_PINNED, first));
  CU_OK(cuMemPoolDestroy(own));
  EXPECT_CUDA(cuDeviceGetMemPool(nullptr, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuDeviceGetMemPool(&current, 99), CUDA_ERROR_INVALID_VALUE);
}

CASE(memory_of_a_pool) {
  check::use_context();
  CUmemoryPool pool = make_pool(), of = nullptr;
  CUdeviceptr block = 0;
  CU_OK(cuMemAllocFromPoolAsync(&block, kMiB, pool, nullptr));
  CU_OK(cuMemsetD8Async(block, 6, kMiB, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
  EXPECT(check::all_bytes(reinterpret_cast<void*>(block), kMiB, 6));
  EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) >= kMiB);
  CU_OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, block));
  EXPECT(of == pool);
  CU_OK(cuMemFreeAsync(block, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
  EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) == 0);
  cuuint64_t threshold = 8 * kMiB;
  CU_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT(number(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) == threshold);
  CU_OK(cuMemPoolTrimTo(pool, 0));
  EXPECT(number(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) == 0);
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, 0, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocFromPoolAsync(nullptr, kMiB, pool, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemPoolDestroy(pool));
}

// "During stream capture ... the allocation is owned by the graph instead of the memory pool." Oracle: an H200 (driver
// 580).
CASE(a_captured_allocation_is_none_of_the_pool) {
  check::use_context();
  CUmemPoolProps properties = pool_of_device_memory();
  properties.maxSize = 4 * kMiB;
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr block = 0;
  CUgraph graph = nullptr;
  CUgraphExec exec = nullptr;
  CU_OK(cuMemPoolCreate(&pool, &properties));
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, 64 * kMiB, pool, stream), CUDA_ERROR_OUT_OF_MEMORY);
  CU_OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
  EXPECT_CUDA(cuMemAllocFromPoolAsync(&block, kMiB, nullptr, stream), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAllocFromPoolAsync(&block, 64 * kMiB, pool, stream));
  CU_OK(cuMemFreeAsync(block, stream));
  CU_OK(cuStreamEndCapture(stream, &graph));
  CU_OK(cuGraphInstantiate(&exec, graph, 0));
  CU_OK(cuGraphLaunch(exec, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT(number(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) == 0);
  CU_OK(cuGraphExecDestroy(exec));
  CU_OK(cuGraphDestroy(graph));
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuMemPoolDestroy(pool));
}

CASE(access_to_a_pool) {
  check::use_context();
  CUmemoryPool pool = make_pool();
  CUmemLocation place = {};
  place.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  CU_OK(cuMemPoolGetAccess(&flags, pool, &place));
  EXPECT(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  const CUmemAccessDesc desc = access_of(0);
  CU_OK(cuMemPoolSetAccess(pool, &desc, 1));
  CU_OK(cuMemPoolDestroy(pool));
}

// "CUDA Driver API, cuMemAdvise": advice is given to an allocation; the next one at its address has none.
CASE(advice_ends_with_its_allocation) {
  check::use_context();
  CUmemPoolProps properties = pool_of_device_memory();
  properties.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  CUmemoryPool pool = nullptr;
  if (!SUPPORTED(cuMemPoolCreate(&pool, &properties))) return;
  for (int i = 0; i < 2; ++i) {
    CUdeviceptr block = 0;
    int mostly = -1;
    CU_OK(cuMemAllocFromPoolAsync(&block, kMiB, pool, nullptr));
    CU_OK(cuMemRangeGetAttribute(&mostly, sizeof mostly, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block, kMiB));
    EXPECT_EQUAL(mostly, 0);
    CU_OK(cuMemAdvise(block, kMiB, CU_MEM_ADVISE_SET_READ_MOSTLY, properties.location));
    CU_OK(cuMemFreeAsync(block, nullptr));
    CU_OK(cuStreamSynchronize(nullptr));
  }
  CU_OK(cuMemPoolDestroy(pool));
}

CASE(an_exported_pool) {
  check::use_context();
  CUmemoryPool pool = make_pool(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), imported = nullptr;
  CUdeviceptr block = 0, other = 0;
  int file = -1;
  CUmemPoolPtrExportData exported = {};
  CU_OK(cuMemAllocFromPoolAsync(&block, kMiB, pool, nullptr));
  CU_OK(cuMemsetD8(block, 0x21, kMiB));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuMemPoolExportToShareableHandle(&file, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU_OK(cuMemPoolExportPointer(&exported, block));
  CU_OK(cuMemPoolImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  close(file);
  CU_OK(cuMemPoolImportPointer(&other, imported, &exported));
  EXPECT(check::all_bytes(reinterpret_cast<void*>(other), kMiB, 0x21));
  CU_OK(cuMemFree(other));
  CU_OK(cuMemPoolDestroy(imported));
  CU_OK(cuMemFree(block));
  CU_OK(cuMemPoolDestroy(pool));
}

CHECK_MAIN()
