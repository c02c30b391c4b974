#pragma once

// What the driver API's tests of memory apart from addresses, and of pools, share: device 0's memory, and the access to
// it.

#include "driver.h"

inline CUmemAllocationProp device_memory(CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.requestedHandleTypes = handles;
  return properties;
}

inline CUmemPoolProps pool_of_device_memory(CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.handleTypes = handles;
  return properties;
}

inline size_t granularity() {
  check::use_context();
  const CUmemAllocationProp properties = device_memory();
  size_t bytes = 0;
  CU_OK(cuMemGetAllocationGranularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  return bytes;
}

inline CUmemGenericAllocationHandle create(size_t bytes, CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
  const CUmemAllocationProp properties = device_memory(handles);
  CUmemGenericAllocationHandle memory = 0;
  CU_OK(cuMemCreate(&memory, bytes, &properties, 0));
  return memory;
}

inline CUmemAccessDesc access_of(int device, CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
  return {{CU_MEM_LOCATION_TYPE_DEVICE, device}, flags};
}

inline CUresult give_access(CUdeviceptr at, size_t bytes,
                            CUmemAccess_flags flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
  const CUmemAccessDesc access = access_of(0, flags);
  return cuMemSetAccess(at, bytes, &access, 1);
}
