// Addresses and memory apart. Oracle: "CUDA Driver API, Virtual Memory Management"; the passages are quoted where a
// case relies on them.

#include <unistd.h>

#include "driver_allocations.h"

namespace {

const void* pointer(CUdeviceptr address) {
  return reinterpret_cast<const void*>(address);
}

CUdeviceptr reserve(size_t bytes) {
  CUdeviceptr address = 0;
  CU_OK(cuMemAddressReserve(&address, bytes, 0, 0, 0));
  return address;
}

/// Addresses at which a memory is mapped, until the scope ends.
struct Mapping {
  CUdeviceptr at;
  size_t bytes;
  Mapping(CUmemGenericAllocationHandle memory, size_t size) : at(reserve(size)), bytes(size) {
    CU_OK(cuMemMap(at, bytes, 0, memory, 0));
  }
  ~Mapping() {
    CU_OK(cuMemUnmap(at, bytes));
    CU_OK(cuMemAddressFree(at, bytes));
  }
  Mapping(const Mapping&) = delete;
  operator CUdeviceptr() const { return at; }
};

unsigned long long access_at(CUdeviceptr address) {
  CUmemLocation place = {};
  place.type = CU_MEM_LOCATION_TYPE_DEVICE;
  unsigned long long flags = 99;
  CU_OK(cuMemGetAccess(&flags, &place, address));
  return flags;
}

/// What is written at one of two addresses is read at the other.
void expect_shared(CUmemGenericAllocationHandle memory, CUmemGenericAllocationHandle same, size_t bytes) {
  Mapping first(memory, bytes), second(same, bytes);
  CU_OK(give_access(first, bytes));
  CU_OK(give_access(second, bytes));
  CU_OK(cuMemsetD8(first, 0x42, bytes));
  CU_OK(cuCtxSynchronize());
  EXPECT(check::all_bytes(pointer(second), bytes, 0x42));
}

__global__ void poke(int* at, int value) {
  *at = value;
}

}  // namespace

CASE(supported) {
  int value = 0;
  CU_OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, check::the_device()));
  EXPECT(value == 1);
  size_t bytes = granularity();
  EXPECT(bytes > 0 && (bytes & (bytes - 1)) == 0);
}

CASE(memory_is_reached_where_it_is_mapped) {
  const size_t bytes = granularity();
  const CUdeviceptr address = reserve(4 * bytes);
  EXPECT(address % bytes == 0);
  CUmemGenericAllocationHandle memory = create(2 * bytes);
  CU_OK(cuMemMap(address, 2 * bytes, 0, memory, 0));
  CU_OK(give_access(address, 2 * bytes));
  CU_OK(cuMemsetD8(address, 7, 2 * bytes));
  EXPECT(check::all_bytes(pointer(address), 2 * bytes, 7));
  // "The memory allocation will be freed when all outstanding mappings to the memory are unmapped and when all
  // outstanding references to the handle (including its shareable counterparts) are also released."
  CU_OK(cuMemRelease(memory));
  CU_OK(cuMemsetD8(address + bytes, 9, bytes));
  EXPECT(check::all_bytes(pointer(address), bytes, 7));
  EXPECT(check::all_bytes(pointer(address + bytes), bytes, 9));
  CU_OK(cuMemUnmap(address, 2 * bytes));
  CU_OK(cuMemAddressFree(address, 4 * bytes));
}

// Growing in place, as allocators with expandable segments do: one copy spans what was mapped in two steps.
CASE(mappings_side_by_side_are_one_range) {
  const size_t bytes = granularity();
  const CUdeviceptr address = reserve(8 * bytes);
  for (int i = 0; i < 3; ++i) {
    CUmemGenericAllocationHandle memory = create(bytes);
    CU_OK(cuMemMap(address + i * bytes, bytes, 0, memory, 0));
    CU_OK(give_access(address + i * bytes, bytes));
    CU_OK(cuMemRelease(memory));
  }
  CU_OK(cuMemsetD8(address, 3, 3 * bytes));
  EXPECT(check::all_bytes(pointer(address), 3 * bytes, 3));
  CU_OK(cuMemUnmap(address + bytes, bytes));  // from the middle
  EXPECT_CUDA(cuMemsetD8(address, 4, 3 * bytes), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemsetD8(address + 2 * bytes, 5, bytes));
  EXPECT(check::all_bytes(pointer(address), bytes, 3));
  EXPECT(check::all_bytes(pointer(address + 2 * bytes), bytes, 5));
  CU_OK(cuMemUnmap(address, bytes));
  CU_OK(cuMemUnmap(address + 2 * bytes, bytes));
  CU_OK(cuMemAddressFree(address, 8 * bytes));
}

CASE(one_memory_at_two_addresses) {
  const size_t bytes = granularity();
  CUmemGenericAllocationHandle memory = create(bytes);
  expect_shared(memory, memory, bytes);
  CU_OK(cuMemRelease(memory));
}

CASE(access_and_properties) {
  const size_t bytes = granularity();
  CUmemGenericAllocationHandle memory = create(bytes), again = 0;
  Mapping address(memory, bytes);
  EXPECT_EQUAL(access_at(address), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_NONE));
  CU_OK(give_access(address, bytes));
  EXPECT_EQUAL(access_at(address), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  CUmemAllocationProp prop = {};
  CU_OK(cuMemGetAllocationPropertiesFromHandle(&prop, memory));
  EXPECT(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED && prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE);
  // "The handle ... must be released with the same number of corresponding calls to cuMemRelease."
  CU_OK(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(address.at)));
  EXPECT(again == memory);
  CU_OK(cuMemRelease(again));
  CU_OK(cuMemRelease(memory));
}

// "Setting the access flags": to read only and back. Two descriptions of one place give what either gives.
CASE(access_to_read_only) {
  const size_t bytes = granularity();
  const CUdeviceptr address = reserve(bytes);
  CUmemGenericAllocationHandle memory = create(bytes);
  CU_OK(cuMemMap(address, bytes, 0, memory, 0));
  CU_OK(give_access(address, bytes));
  CU_OK(cuMemsetD8(address, 6, bytes));
  CU_OK(cuCtxSynchronize());
  CU_OK(give_access(address, bytes, CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT_EQUAL(access_at(address), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READ));
  EXPECT(check::all_bytes(pointer(address), bytes, 6));
  // The last one counts. Oracle: an H200 (driver 580).
  const CUmemAccessDesc both[] = {access_of(0, CU_MEM_ACCESS_FLAGS_PROT_READ), access_of(0)};
  CU_OK(cuMemSetAccess(address, bytes, both, 2));
  EXPECT_EQUAL(access_at(address), static_cast<unsigned long long>(CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  CU_OK(cuMemsetD8(address, 7, bytes));
  EXPECT(check::all_bytes(pointer(address), bytes, 7));
  // A kernel's write to what may only be read is a fault. It sticks, so that it comes last.
  CU_OK(give_access(address, bytes, CU_MEM_ACCESS_FLAGS_PROT_READ));
  poke<<<1, 1>>>(reinterpret_cast<int*>(address), 1);
  EXPECT_CUDA(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
}

CASE(shared_by_descriptor) {
  const size_t bytes = granularity();
  CUmemGenericAllocationHandle memory = create(bytes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR), imported = 0;
  int file = -1;
  CU_OK(cuMemExportToShareableHandle(&file, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU_OK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(file)),
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(file);
  expect_shared(memory, imported, bytes);
  CU_OK(cuMemRelease(memory));
  CU_OK(cuMemRelease(imported));
}

CASE(refusals) {
  const size_t bytes = granularity();
  CUdeviceptr address = 0;
  CUmemAllocationProp prop = device_memory();
  CUmemGenericAllocationHandle memory = 0;
  EXPECT_CUDA(cuMemCreate(&memory, bytes / 2, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemCreate(&memory, 0, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  EXPECT_CUDA(cuMemCreate(&memory, bytes, &prop, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressReserve(&address, bytes / 2, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAddressReserve(nullptr, bytes, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAddressReserve(&address, 2 * bytes, 0, 0, 0));
  memory = create(bytes);
  EXPECT_CUDA(cuMemMap(address, 2 * bytes, 0, memory, 0), CUDA_ERROR_NOT_SUPPORTED);  // more than there is: an H200
  EXPECT_CUDA(give_access(address, bytes), CUDA_ERROR_INVALID_VALUE);                 // nothing mapped
  CU_OK(cuMemMap(address, bytes, 0, memory, 0));
  EXPECT_CUDA(cuMemMap(address, bytes, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);  // mapped already
  EXPECT_CUDA(cuMemAddressFree(address, 2 * bytes), CUDA_ERROR_INVALID_VALUE);    // still mapped
  EXPECT_CUDA(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);                      // not of cuMemAlloc
  CU_OK(cuMemUnmap(address, bytes));
  CU_OK(cuMemRelease(memory));
  CU_OK(cuMemAddressFree(address, 2 * bytes));
}

CHECK_ISOLATED_MAIN()
