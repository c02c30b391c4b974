// What the driver's memory functions refuse: pointers that are null, foreign, freed or misaligned, sizes beyond an
// allocation, shapes that make no sense. Oracle: "CUDA Driver API", Memory Management: the "Returns" of each function.

#include "driver_objects.h"

namespace {

constexpr size_t kInts = size_t{1} << 18, kBeyond = size_t{1} << 40;

CUdeviceptr address(void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

/// Four rows of 64 bytes, in each of the structures that describe a copy.
template <typename Copy = CUDA_MEMCPY2D>
Copy rows(CUdeviceptr to, CUdeviceptr from, size_t pitch) {
  Copy copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = pitch;
  copy.WidthInBytes = 64;
  copy.Height = 4;
  return copy;
}

/// Two slices of four rows.
template <typename Copy = CUDA_MEMCPY3D>
Copy slices(CUdeviceptr to, CUdeviceptr from, size_t pitch) {
  Copy copy = rows<Copy>(to, from, pitch);
  copy.srcHeight = copy.dstHeight = 4;
  copy.Depth = 2;
  return copy;
}

CUDA_MEMCPY3D_PEER peer_slices(CUdeviceptr to, CUdeviceptr from, size_t pitch) {
  CUDA_MEMCPY3D_PEER copy = slices<CUDA_MEMCPY3D_PEER>(to, from, pitch);
  copy.srcContext = copy.dstContext = check::use_context();
  return copy;
}

}  // namespace

CASE(freeing) {
  Memory memory(kInts);
  CUdeviceptr gone = 0;
  char local[64];
  CU_OK(cuMemAlloc(&gone, 64));
  CU_OK(cuMemFree(gone));
  EXPECT_CUDA(cuMemFree(gone), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree(memory + 256), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree(address(local)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFreeHost(local), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFreeHost(nullptr));  // nothing to free. Oracle: an H200 (driver 580)
}

CASE(allocating) {
  check::use_context();
  CUdeviceptr at = 0;
  size_t pitch = 0;
  void* host = nullptr;
  EXPECT_CUDA(cuMemAlloc(nullptr, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAlloc(&at, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAlloc(&at, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CUDA(cuMemAllocPitch(nullptr, &pitch, 64, 4, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocPitch(&at, nullptr, 64, 4, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocPitch(&at, &pitch, 0, 4, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocPitch(&at, &pitch, 64, 0, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocPitch(&at, &pitch, 64, 4, 3), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocManaged(nullptr, 64, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocManaged(&at, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocManaged(&at, 64, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocHost(nullptr, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostAlloc(nullptr, 64, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostAlloc(&host, 64, 0x80), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemGetInfo(nullptr, &pitch));  // either may be null. Oracle: an H200 (driver 580)
}

CASE(host_memory) {
  check::use_context();
  void* host = nullptr;
  unsigned flags = 0;
  CUdeviceptr device = 0;
  char local[64];
  CU_OK(cuMemHostAlloc(&host, 64, 0));
  EXPECT_CUDA(cuMemHostGetFlags(nullptr, host), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostGetFlags(&flags, local), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostGetFlags(&flags, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostGetDevicePointer(nullptr, host, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostGetDevicePointer(&device, host, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostRegister(nullptr, 64, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostRegister(local, 0, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostRegister(local, 64, 0x80), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostUnregister(local), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  CU_OK(cuMemFreeHost(host));
  EXPECT_CUDA(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

CASE(copies) {
  Memory memory(kInts);
  char host[64] = {};
  EXPECT_CUDA(cuMemcpy(0, memory, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy(memory, 0, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy(memory, memory, kBeyond), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoD(0, host, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoD(memory, nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoH(host, 0, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoH(nullptr, memory, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoD(memory, 0, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoD(0, memory, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoD(memory, memory, kBeyond), CUDA_ERROR_INVALID_VALUE);
  CUcontext none = nullptr, context = check::use_context();
  EXPECT_CUDA(cuMemcpyPeer(memory, none, memory, context, 16), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemcpyPeer(memory, context, memory, none, 16), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemcpyPeer(0, context, memory, context, 16), CUDA_ERROR_INVALID_VALUE);
}

CASE(asynchronous_copies) {
  Memory memory(kInts);
  char host[64] = {};
  EXPECT_CUDA(cuMemcpyAsync(0, memory, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyAsync(memory, memory, kBeyond, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoDAsync(0, host, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyHtoDAsync(memory, nullptr, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, 0, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoHAsync(nullptr, memory, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory, 0, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory, memory, kBeyond, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUcontext none = nullptr, context = check::use_context();
  EXPECT_CUDA(cuMemcpyPeerAsync(memory, none, memory, context, 16, nullptr), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CUDA(cuMemcpyPeerAsync(0, context, memory, context, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuCtxSynchronize());  // nothing of it was done
}

CASE(boxes) {
  Memory memory(kInts);
  const CUDA_MEMCPY2D narrow = rows(memory, memory + 4096, 32), nowhere = rows(0, memory, 64);
  EXPECT_CUDA(cuMemcpy2D(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy2D(&narrow), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy2D(&nowhere), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy2DUnaligned(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy2DUnaligned(&narrow), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy2DAsync(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy2DAsync(&narrow, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY2D unknown = rows(memory, memory + 4096, 64);
  unknown.srcMemoryType = static_cast<CUmemorytype>(77);
  EXPECT_CUDA(cuMemcpy2D(&unknown), CUDA_ERROR_INVALID_VALUE);

  const CUDA_MEMCPY3D thin = slices(memory, memory + 4096, 32);
  EXPECT_CUDA(cuMemcpy3D(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3D(&thin), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DAsync(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DAsync(&thin, nullptr), CUDA_ERROR_INVALID_VALUE);
  CUDA_MEMCPY3D low = slices(memory, memory + 4096, 64);
  low.srcHeight = 2;  // fewer rows a slice than are copied
  EXPECT_CUDA(cuMemcpy3D(&low), CUDA_ERROR_INVALID_VALUE);

  const CUDA_MEMCPY3D_PEER peer = peer_slices(memory, memory + 4096, 32);
  EXPECT_CUDA(cuMemcpy3DPeer(nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DPeer(&peer), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DPeerAsync(nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpy3DPeerAsync(&peer, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(fills) {
  Memory memory(kInts);
  char local[64];
  EXPECT_CUDA(cuMemsetD8(0, 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD8(address(local), 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD8(memory, 1, kBeyond), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD16(memory + 1, 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD32(memory + 2, 1, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD32(memory, 1, ~size_t{0}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD8Async(0, 1, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD8Async(memory, 1, kBeyond, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD16Async(memory + 1, 1, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD32Async(memory + 2, 1, 16, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(fills_of_boxes) {
  Memory memory(kInts);
  EXPECT_CUDA(cuMemsetD2D8(0, 64, 1, 16, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D8(memory, 8, 1, 16, 4), CUDA_ERROR_INVALID_VALUE);  // rows that overlap
  EXPECT_CUDA(cuMemsetD2D8(memory, 64, 1, 16, kBeyond), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D16(memory + 1, 64, 1, 16, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D16(memory, 63, 1, 16, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D32(memory + 2, 64, 1, 16, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D32(memory, 66, 1, 16, 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D8Async(0, 64, 1, 16, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D8Async(memory, 8, 1, 16, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D16Async(memory + 1, 64, 1, 16, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD2D32Async(memory + 2, 64, 1, 16, 4, nullptr), CUDA_ERROR_INVALID_VALUE);
}

CASE(what_pointers_are) {
  Memory memory(kInts);
  char local[64];
  CUdeviceptr base = 0;
  size_t size = 0;
  unsigned type = 0;
  int on = 1;
  EXPECT_CUDA(cuMemGetAddressRange(&base, &size, address(local)), CUDA_ERROR_NOT_FOUND);
  EXPECT_CUDA(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerGetAttribute(&type, static_cast<CUpointer_attribute>(999), memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(local)), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerSetAttribute(nullptr, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, address(local)), CUDA_ERROR_INVALID_VALUE);
  CUpointer_attribute one = CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown = static_cast<CUpointer_attribute>(999);
  void* data[] = {&type};
  EXPECT_CUDA(cuPointerGetAttributes(1, nullptr, data, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerGetAttributes(1, &one, nullptr, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerGetAttributes(1, &unknown, data, memory), CUDA_ERROR_INVALID_VALUE);
}

CASE(hints_for_managed_memory) {
  Memory memory(kInts);
  CUdeviceptr managed = 0;
  CU_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CUmemLocation device = {}, nowhere = {};
  device.type = CU_MEM_LOCATION_TYPE_DEVICE;
  nowhere.type = CU_MEM_LOCATION_TYPE_DEVICE;
  nowhere.id = 99;
  const auto unknown = static_cast<CUmem_advise>(99);
  EXPECT_CUDA(cuMemAdvise(managed, 4096, unknown, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAdvise(managed, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAdvise(managed, kBeyond, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, device), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, nowhere),
              CUDA_ERROR_INVALID_VALUE);  // an H200 (driver 580)
  EXPECT_CUDA(cuMemPrefetchAsync(managed, 0, device, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchAsync(managed, kBeyond, device, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchAsync(memory, 4096, device, 0, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchAsync(managed, 4096, device, 1, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemPrefetchAsync(managed, 4096, nowhere, 0, nullptr), CUDA_ERROR_INVALID_DEVICE);
  int value = 0;
  void* values[] = {&value};
  size_t sizes[] = {sizeof value};
  CUmem_range_attribute which[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
  EXPECT_CUDA(cuMemRangeGetAttribute(&value, 3, which[0], managed, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRangeGetAttribute(nullptr, 4, which[0], managed, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRangeGetAttribute(&value, 4, which[0], memory, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRangeGetAttributes(nullptr, sizes, which, 1, managed, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRangeGetAttributes(values, sizes, which, 1, memory, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemRangeGetAttributes(values, sizes, which, 0, managed, 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamAttachMemAsync(nullptr, managed, 0, 0x70), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamAttachMemAsync(nullptr, managed, 100, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuStreamAttachMemAsync(CU_STREAM_LEGACY, managed, 0, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(managed));
}

// Oracle: an H200 (driver 580).
CASE(locations_of_hints) {
  check::use_context();
  CUdeviceptr managed = 0;
  CU_OK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  constexpr CUresult kGood = CUDA_SUCCESS, kInvalid = CUDA_ERROR_INVALID_VALUE;
  struct Row {
    int type, id;
    CUresult preferred, accessed_by, unlocated, prefetch, batch;
  };
  const Row rows[] = {
      {CU_MEM_LOCATION_TYPE_INVALID, 0, kInvalid, kInvalid, kInvalid, kInvalid, kInvalid},
      {CU_MEM_LOCATION_TYPE_DEVICE, 0, kGood, kGood, kGood, kGood, kGood},
      {CU_MEM_LOCATION_TYPE_DEVICE, -1, kInvalid, kInvalid, kGood, CUDA_ERROR_INVALID_DEVICE, kInvalid},
      {CU_MEM_LOCATION_TYPE_DEVICE, 99, kInvalid, kInvalid, kGood, CUDA_ERROR_INVALID_DEVICE, kInvalid},
      {CU_MEM_LOCATION_TYPE_HOST, 7, kGood, kGood, kGood, kGood, kGood},
      {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, kGood, kInvalid, kGood, kGood, kGood},
      {CU_MEM_LOCATION_TYPE_HOST_NUMA, -1, kInvalid, kInvalid, kGood, kInvalid, kInvalid},
      {CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT, 7, kGood, kInvalid, kGood, kGood, kGood},
      {77, 0, kInvalid, kInvalid, kInvalid, kInvalid, kInvalid},
      {-1, 0, kInvalid, kInvalid, kInvalid, kInvalid, kInvalid},
      {CU_MEM_LOCATION_TYPE_MAX, 0, kInvalid, kInvalid, kInvalid, kInvalid, kInvalid},
  };
  for (const Row& row : rows) {
    CUmemLocation at = {};
    at.type = static_cast<CUmemLocationType>(row.type);
    at.id = row.id;
    size_t bytes = 4096, first = 0;
    EXPECT_CUDA(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, at), row.preferred);
    EXPECT_CUDA(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, at), row.unlocated);
    EXPECT_CUDA(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, at), row.accessed_by);
    EXPECT_CUDA(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_UNSET_ACCESSED_BY, at), row.accessed_by);
    EXPECT_CUDA(cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, at), row.unlocated);
    EXPECT_CUDA(cuMemPrefetchAsync(managed, 4096, at, 0, stream), row.prefetch);
    EXPECT_CUDA(cuMemPrefetchBatchAsync(&managed, &bytes, 1, &at, &first, 1, 0, stream), row.batch);
  }
  CU_OK(cuStreamSynchronize(stream));
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuMemFree(managed));
}

CHECK_MAIN()
