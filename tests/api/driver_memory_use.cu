// What of the device's memory is in use, and what one way to allocate leaves to the others.

#include <thread>
#include <vector>

#include "api.h"
#include "driver_allocations.h"

namespace {

size_t free_bytes() {
  size_t free = 0, total = 0;
  CU_OK(cuMemGetInfo(&free, &total));
  return free;
}

unsigned attribute(CUpointer_attribute attribute, CUdeviceptr at) {
  unsigned long long value = 0;  // both attributes asked for are of 4 or 8 bytes
  CU_OK(cuPointerGetAttribute(&value, attribute, at));
  return static_cast<unsigned>(value);
}

}  // namespace

CASE(created_memory_is_in_use) {
  const size_t bytes = 64 * granularity(), before = free_bytes();
  CUmemGenericAllocationHandle memory = create(bytes);
  EXPECT(before - free_bytes() >= bytes && before - free_bytes() < 2 * bytes);
  CU_OK(cuMemRelease(memory));
  EXPECT_EQUAL(free_bytes(), before);
}

CASE(idle_pools_make_room_for_created_memory) {
  const size_t chunk = granularity();
  const CUmemPoolProps properties = pool_of_device_memory();
  CUmemoryPool pool = nullptr;
  CU_OK(cuMemPoolCreate(&pool, &properties));
  cuuint64_t keep_all = UINT64_MAX, held = 0;
  CU_OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all));
  const size_t most = free_bytes() / 8 * 5 / chunk * chunk;  // two of them are more than there is
  CUdeviceptr block = 0;
  CU_OK(cuMemAllocFromPoolAsync(&block, most, pool, nullptr));
  CU_OK(cuMemFreeAsync(block, nullptr));
  CU_OK(cuStreamSynchronize(nullptr));
  CU_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
  EXPECT(held >= most);
  CUmemGenericAllocationHandle memory = create(most);
  CU_OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
  EXPECT_EQUAL(held, cuuint64_t{0});
  CU_OK(cuMemRelease(memory));
  CU_OK(cuMemPoolDestroy(pool));
}

CASE(mapped_memory_is_known_while_its_neighbours_change) {
  constexpr int kParts = 8;
  const size_t chunk = granularity();
  CUdeviceptr base = 0;
  CU_OK(cuMemAddressReserve(&base, kParts * chunk, 0, 0, 0));
  CUmemGenericAllocationHandle memory[kParts];
  for (int i = 0; i < kParts; ++i) {
    memory[i] = create(chunk);
    CU_OK(cuMemMap(base + i * chunk, chunk, 0, memory[i], 0));
  }
  CU_OK(give_access(base, chunk));
  std::atomic<bool> done{false};
  CUcontext context = check::use_context();
  std::thread changes([&] {
    CU_OK(cuCtxSetCurrent(context));
    for (int i = 0; i < 300; ++i) {
      for (int part = 1; part < kParts; ++part) CU_OK(give_access(base + part * chunk, chunk));
      for (int part = 1; part < kParts; ++part) {
        CU_OK(cuMemUnmap(base + part * chunk, chunk));
        CU_OK(cuMemMap(base + part * chunk, chunk, 0, memory[part], 0));
      }
    }
    done = true;
  });
  while (!done) {
    int value = 7, back = 0;
    CU_OK(cuMemcpyHtoD(base + 64, &value, sizeof value));
    CU_OK(cuMemcpyDtoH(&back, base + 64, sizeof back));
    EXPECT_EQUAL(back, 7);
  }
  changes.join();
  CU_OK(give_access(base, kParts * chunk));
  CUdeviceptr first = 0;
  size_t bytes = 0;
  CU_OK(cuMemcpyDtoD(base + (kParts - 1) * chunk, base, 64));
  CU_OK(cuMemGetAddressRange(&first, &bytes, base + 3 * chunk));
  EXPECT(first <= base + 3 * chunk && first + bytes > base + 3 * chunk);
  CU_OK(cuMemUnmap(base, kParts * chunk));
  EXPECT_CUDA(cuMemcpyDtoD(base, base + chunk, 64), CUDA_ERROR_INVALID_VALUE);
  for (CUmemGenericAllocationHandle part : memory) CU_OK(cuMemRelease(part));
  CU_OK(cuMemAddressFree(base, kParts * chunk));
}

CASE(attributes_of_mapped_memory) {
  const size_t chunk = granularity();
  CUdeviceptr base = 0;
  CU_OK(cuMemAddressReserve(&base, 2 * chunk, 0, 0, 0));
  CUmemGenericAllocationHandle plain = create(chunk),
                               exportable = create(chunk, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  CU_OK(cuMemMap(base, chunk, 0, plain, 0));
  CU_OK(cuMemMap(base + chunk, chunk, 0, exportable, 0));
  CU_OK(give_access(base, chunk));
  CU_OK(give_access(base + chunk, chunk, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQUAL(attribute(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, base), unsigned{CU_MEM_HANDLE_TYPE_NONE});
  EXPECT_EQUAL(attribute(CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, base + chunk),
               unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR});
  EXPECT_EQUAL(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, base), unsigned{CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
  EXPECT_EQUAL(attribute(CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, base + chunk), unsigned{CU_MEM_ACCESS_FLAGS_PROT_READ});
  CU_OK(cuMemUnmap(base, 2 * chunk));
  CU_OK(cuMemRelease(plain));
  CU_OK(cuMemRelease(exportable));
  CU_OK(cuMemAddressFree(base, 2 * chunk));
}

// "cudaDeviceReset: all resources of the current device in the current process" are those of its primary context;
// created memory and reserved addresses belong to no context.
CASE(mappings_outlive_contexts) {
  const size_t chunk = granularity();
  CUdeviceptr base = 0;
  CU_OK(cuMemAddressReserve(&base, chunk, 0, 0, 0));
  CUmemGenericAllocationHandle memory = create(chunk);
  CU_OK(cuMemMap(base, chunk, 0, memory, 0));
  CU_OK(give_access(base, chunk));
  int value = 11, back = 0;
  CU_OK(cuMemcpyHtoD(base, &value, sizeof value));
  CUDA_OK(cudaDeviceReset());
  CUDA_OK(cudaFree(nullptr));
  CUDA_OK(cudaMemcpy(&back, reinterpret_cast<void*>(base), sizeof back, cudaMemcpyDeviceToHost));
  EXPECT_EQUAL(back, 11);
  CU_OK(cuMemUnmap(base, chunk));
  CU_OK(cuMemRelease(memory));
  CU_OK(cuMemAddressFree(base, chunk));
}

CHECK_MAIN()
