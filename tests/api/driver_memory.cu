// Memory of the driver API: allocating, what a pointer is, copies and fills.
// Oracle: "CUDA Driver API", Memory Management, Unified Addressing; expected bytes are computed on the host.

#include "driver.h"

namespace {

CUdeviceptr allocate(size_t size) {
  check::use_context();
  CUdeviceptr memory = 0;
  CU_OK(cuMemAlloc(&memory, size));
  return memory;
}

template <typename T>
std::vector<T> read(CUdeviceptr from, size_t count) {
  std::vector<T> values(count);
  CU_OK(cuMemcpyDtoH(values.data(), from, count * sizeof(T)));
  return values;
}

CUdeviceptr address(void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

CASE(alloc_and_free) {
  CUdeviceptr memory = allocate(1000);
  EXPECT(memory != 0 && memory % 256 == 0);
  CUdeviceptr base = 0;
  size_t size = 0;
  CU_OK(cuMemGetAddressRange(&base, &size, memory + 500));
  EXPECT_EQUAL(base, memory);
  EXPECT_EQUAL(size, 1000u);
  EXPECT_CUDA(cuMemFree(memory + 8), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(memory));
  EXPECT_CUDA(cuMemFree(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAlloc(nullptr, 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAlloc(&memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAlloc(&memory, size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
}

CASE(pitched) {
  check::use_context();
  CUdeviceptr memory = 0;
  size_t pitch = 0;
  CU_OK(cuMemAllocPitch(&memory, &pitch, 100, 7, 4));
  EXPECT(pitch >= 100 && pitch % 16 == 0);
  CU_OK(cuMemsetD8(memory, 1, pitch * 7));
  CU_OK(cuMemFree(memory));
  EXPECT_CUDA(cuMemAllocPitch(&memory, &pitch, 100, 7, 5), CUDA_ERROR_INVALID_VALUE);  // 4, 8 or 16
}

CASE(managed) {
  check::use_context();
  CUdeviceptr memory = 0;
  CU_OK(cuMemAllocManaged(&memory, 4096, CU_MEM_ATTACH_GLOBAL));
  auto* host = reinterpret_cast<unsigned char*>(memory);
  host[7] = 77;
  CU_OK(cuMemsetD8(memory + 8, 88, 1));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQUAL(host[7], 77);
  EXPECT_EQUAL(host[8], 88);
  unsigned managed = 0;
  CU_OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  EXPECT_EQUAL(managed, 1u);
  CUmemLocation location = {};
  location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  CU_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, location));
  CU_OK(cuMemAdvise(memory, 4096, CU_MEM_ADVISE_UNSET_READ_MOSTLY, location));
  CU_OK(cuMemPrefetchAsync(memory, 4096, location, 0, nullptr));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_GLOBAL));
  CU_OK(cuCtxSynchronize());
  CU_OK(cuMemFree(memory));
  EXPECT_CUDA(cuMemAllocManaged(&memory, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemAllocManaged(&memory, 64, 0x70), CUDA_ERROR_INVALID_VALUE);
}

CASE(mem_get_info) {
  check::use_context();
  constexpr size_t size = size_t{128} << 20, slack = size_t{4} << 20;
  size_t before = 0, total = 0, during = 0;
  CU_OK(cuMemGetInfo(&before, &total));
  EXPECT(before > 0 && before <= total);
  CUdeviceptr memory = allocate(size);
  CU_OK(cuMemGetInfo(&during, &total));
  EXPECT(during + size <= before + slack);
  CU_OK(cuMemFree(memory));
}

CASE(host_memory) {
  check::use_context();
  void* host = nullptr;
  CU_OK(cuMemHostAlloc(&host, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  unsigned flags = 0;
  CU_OK(cuMemHostGetFlags(&flags, host));
  EXPECT_EQUAL(flags & 3u, static_cast<unsigned>(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  CUdeviceptr device = 0;
  CU_OK(cuMemHostGetDevicePointer(&device, host, 0));
  CU_OK(cuMemsetD8(device, 0x5a, 4096));
  CU_OK(cuCtxSynchronize());
  EXPECT_EQUAL(static_cast<unsigned char*>(host)[4095], 0x5a);
  EXPECT_CUDA(cuMemHostGetDevicePointer(&device, host, 9), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFreeHost(host));
  EXPECT_CUDA(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemAllocHost(&host, 64));
  std::memset(host, 1, 64);
  CU_OK(cuMemFreeHost(host));
  EXPECT_CUDA(cuMemAllocHost(nullptr, 64), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemHostAlloc(&host, 64, 0x1000), CUDA_ERROR_INVALID_VALUE);
}

CASE(registered_host_memory) {
  check::use_context();
  void* host = std::aligned_alloc(4096, 8192);
  CU_OK(cuMemHostRegister(host, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
  unsigned type = 0;
  CU_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(host)));
  EXPECT_EQUAL(type, static_cast<unsigned>(CU_MEMORYTYPE_HOST));
  EXPECT_CUDA(cuMemHostRegister(host, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  CU_OK(cuMemHostUnregister(host));
  EXPECT_CUDA(cuMemHostUnregister(host), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(host)), CUDA_ERROR_INVALID_VALUE);
  std::free(host);
}

CASE(pointer_attributes) {
  CUcontext context = check::use_context(), of = nullptr;
  CUdeviceptr memory = allocate(256), device = 0, start = 0;
  unsigned type = 0, managed = 9;
  int ordinal = -1;
  size_t size = 0;
  CU_OK(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, memory));
  EXPECT(of == context);
  CU_OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory + 4));
  EXPECT_EQUAL(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* data[] = {&device, &managed, &ordinal, &start, &size};
  CU_OK(cuPointerGetAttributes(5, which, data, memory + 4));
  EXPECT_EQUAL(device, memory + 4);
  EXPECT_EQUAL(managed, 0u);
  EXPECT_EQUAL(ordinal, 0);
  EXPECT_EQUAL(start, memory);
  EXPECT_EQUAL(size, 256u);
  int on = 1;
  CU_OK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
  EXPECT_CUDA(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(&type)), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(memory));
}

CASE(copies) {
  CUdeviceptr a = allocate(1024), b = allocate(1024);
  std::vector<int> source(256);
  for (int i = 0; i < 256; ++i) source[static_cast<size_t>(i)] = i * i;
  CU_OK(cuMemcpyHtoD(a, source.data(), 1024));
  CU_OK(cuMemcpyDtoD(b, a, 512));
  CU_OK(cuMemcpy(b + 512, a + 512, 512));
  EXPECT(read<int>(b, 256) == source);
  CUcontext context = check::use_context();
  CU_OK(cuMemsetD8(b, 0, 1024));
  CU_OK(cuMemcpyPeer(b, context, a, context, 1024));
  EXPECT(read<int>(b, 256) == source);
  EXPECT_CUDA(cuMemcpyHtoD(0, source.data(), 16), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemcpyDtoH(nullptr, a, 16), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(a));
  CU_OK(cuMemFree(b));
}

CASE(async_copies) {
  CUdeviceptr a = allocate(1024), b = allocate(1024);
  CUcontext context = check::use_context();
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  void* pinned = nullptr;
  CU_OK(cuMemAllocHost(&pinned, 1024));
  std::memset(pinned, 4, 1024);
  check::Gate gate;
  CU_OK(cuLaunchHostFunc(stream, check::Gate::wait, &gate));
  CU_OK(cuMemcpyHtoDAsync(a, pinned, 1024, stream));
  CU_OK(cuMemsetD8Async(a, 5, 256, stream));
  CU_OK(cuMemcpyDtoDAsync(b, a, 512, stream));
  CU_OK(cuMemcpyAsync(b + 512, a + 512, 256, stream));
  CU_OK(cuMemcpyPeerAsync(b + 768, context, a + 768, context, 256, stream));
  CU_OK(cuMemcpyDtoHAsync(pinned, b, 1024, stream));
  EXPECT(gate.holds(stream));
  for (int i = 0; i < 1024; ++i) EXPECT_EQUAL_AT(i, int{static_cast<unsigned char*>(pinned)[i]}, 4);
  gate.release();
  CU_OK(cuStreamSynchronize(stream));
  for (int i = 0; i < 1024; ++i) EXPECT_EQUAL_AT(i, int{static_cast<unsigned char*>(pinned)[i]}, i < 256 ? 5 : 4);
  CU_OK(cuMemFreeHost(pinned));
  CU_OK(cuStreamDestroy(stream));
  CU_OK(cuMemFree(a));
  CU_OK(cuMemFree(b));
}

CASE(rows) {
  check::use_context();
  unsigned char host[6 * 20], back[6 * 30];
  for (int i = 0; i < 120; ++i) host[i] = static_cast<unsigned char>(i);
  for (int unaligned = 0; unaligned < 3; ++unaligned) {
    CUdeviceptr device = allocate(64 * 6);
    CUDA_MEMCPY2D in = {}, out = {};
    in.srcMemoryType = CU_MEMORYTYPE_HOST;
    in.srcHost = host;
    in.srcPitch = 20;
    in.srcXInBytes = 3;
    in.srcY = 1;
    in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    in.dstDevice = device;
    in.dstPitch = 64;
    in.WidthInBytes = 12;
    in.Height = 4;
    out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    out.srcDevice = device;
    out.srcPitch = 64;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back;
    out.dstPitch = 30;
    out.WidthInBytes = 12;
    out.Height = 4;
    auto copy = [&](const CUDA_MEMCPY2D* what) {
      if (unaligned == 0) return cuMemcpy2D(what);
      return unaligned == 1 ? cuMemcpy2DUnaligned(what) : cuMemcpy2DAsync(what, nullptr);
    };
    std::memset(back, 0xee, sizeof back);
    CU_OK(copy(&in));
    CU_OK(copy(&out));
    CU_OK(cuCtxSynchronize());
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 30; ++x)
        EXPECT_EQUAL_AT(y * 30 + x, int{back[y * 30 + x]}, x < 12 && y < 4 ? (y + 1) * 20 + x + 3 : 0xee);
    in.dstPitch = 8;
    EXPECT_CUDA(copy(&in), CUDA_ERROR_INVALID_VALUE);
    EXPECT_CUDA(copy(nullptr), CUDA_ERROR_INVALID_VALUE);
    CU_OK(cuMemFree(device));
  }
}

CASE(boxes) {
  CUcontext context = check::use_context();
  CUdeviceptr device = allocate(16 * 4 * 3), other = allocate(16 * 4 * 3);
  unsigned char host[8 * 4 * 3], back[16 * 4 * 3];
  for (int i = 0; i < 96; ++i) host[i] = static_cast<unsigned char>(i + 1);
  CU_OK(cuMemsetD8(device, 0xdd, sizeof back));
  CUDA_MEMCPY3D in = {};
  in.srcMemoryType = CU_MEMORYTYPE_HOST;
  in.srcHost = host;
  in.srcPitch = 8;
  in.srcHeight = 4;
  in.srcZ = 1;
  in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  in.dstDevice = device;
  in.dstPitch = 16;
  in.dstHeight = 4;
  in.WidthInBytes = 8;
  in.Height = 3;
  in.Depth = 2;
  auto expect = [&](CUdeviceptr where) {
    CU_OK(cuCtxSynchronize());
    CU_OK(cuMemcpyDtoH(back, where, sizeof back));
    for (int i = 0; i < 192; ++i) {
      int x = i % 16, y = i / 16 % 4, z = i / 64;
      EXPECT_EQUAL_AT(i, int{back[i]}, x < 8 && y < 3 && z < 2 ? (z + 1) * 32 + y * 8 + x + 1 : 0xdd);
    }
  };
  CU_OK(cuMemcpy3D(&in));
  expect(device);
  CU_OK(cuMemsetD8(device, 0xdd, sizeof back));
  CU_OK(cuMemcpy3DAsync(&in, nullptr));
  expect(device);
  CUDA_MEMCPY3D_PEER peer = {};
  peer.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.srcDevice = device;
  peer.srcContext = context;
  peer.srcPitch = 16;
  peer.srcHeight = 4;
  peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  peer.dstDevice = other;
  peer.dstContext = context;
  peer.dstPitch = 16;
  peer.dstHeight = 4;
  peer.WidthInBytes = 8;
  peer.Height = 3;
  peer.Depth = 2;
  for (int asynchronous = 0; asynchronous < 2; ++asynchronous) {
    CU_OK(cuMemsetD8(other, 0xdd, sizeof back));
    CU_OK(asynchronous ? cuMemcpy3DPeerAsync(&peer, nullptr) : cuMemcpy3DPeer(&peer));
    expect(other);
  }
  CU_OK(cuMemFree(device));
  CU_OK(cuMemFree(other));
}

CASE(fills) {
  CUdeviceptr memory = allocate(256);
  CU_OK(cuMemsetD8(memory, 0x11, 256));
  CU_OK(cuMemsetD16(memory + 64, 0x2233, 8));
  CU_OK(cuMemsetD32(memory + 128, 0x44556677, 4));
  const auto bytes = read<unsigned char>(memory, 256);
  EXPECT_EQUAL(bytes[63], 0x11);
  EXPECT_EQUAL(bytes[64], 0x33);
  EXPECT_EQUAL(bytes[79], 0x22);
  EXPECT_EQUAL(bytes[80], 0x11);
  EXPECT_EQUAL(bytes[128], 0x77);
  EXPECT_EQUAL(bytes[143], 0x44);
  EXPECT_EQUAL(bytes[144], 0x11);
  CU_OK(cuMemsetD8Async(memory, 1, 4, nullptr));
  CU_OK(cuMemsetD16Async(memory + 4, 0x0203, 2, nullptr));
  CU_OK(cuMemsetD32Async(memory + 8, 0x04050607, 1, nullptr));
  const unsigned char expected[] = {1, 1, 1, 1, 3, 2, 3, 2, 7, 6, 5, 4};
  const auto start = read<unsigned char>(memory, 12);
  for (size_t i = 0; i < 12; ++i) EXPECT_EQUAL_AT(static_cast<long long>(i), start[i], expected[i]);
  EXPECT_CUDA(cuMemsetD32(memory + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);  // not aligned for its elements
  EXPECT_CUDA(cuMemsetD16(memory + 1, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemsetD8(0, 0, 16), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(memory));
}

CASE(fills_of_rows) {
  CUdeviceptr memory = allocate(64 * 4);
  for (int width = 1; width <= 4; width *= 2)
    for (int asynchronous = 0; asynchronous < 2; ++asynchronous) {
      CU_OK(cuMemsetD8(memory, 0, 256));
      if (width == 1)
        CU_OK(asynchronous ? cuMemsetD2D8Async(memory, 64, 9, 5, 3, nullptr) : cuMemsetD2D8(memory, 64, 9, 5, 3));
      if (width == 2)
        CU_OK(asynchronous ? cuMemsetD2D16Async(memory, 64, 0x0909, 5, 3, nullptr)
                           : cuMemsetD2D16(memory, 64, 0x0909, 5, 3));
      if (width == 4)
        CU_OK(asynchronous ? cuMemsetD2D32Async(memory, 64, 0x09090909, 5, 3, nullptr)
                           : cuMemsetD2D32(memory, 64, 0x09090909, 5, 3));
      const auto bytes = read<unsigned char>(memory, 256);
      for (int i = 0; i < 256; ++i)
        EXPECT_EQUAL_AT(i, int{bytes[static_cast<size_t>(i)]}, i % 64 < 5 * width && i / 64 < 3 ? 9 : 0);
    }
  CU_OK(cuMemFree(memory));
}

CASE(stream_ordered_memory) {
  check::use_context();
  CUstream stream = nullptr;
  CU_OK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
  CUdeviceptr memory = 0;
  CU_OK(cuMemAllocAsync(&memory, 1024, stream));
  CU_OK(cuMemsetD32Async(memory, 7, 256, stream));
  std::vector<unsigned> back(256);
  CU_OK(cuMemcpyDtoHAsync(back.data(), memory, 1024, stream));
  CU_OK(cuMemFreeAsync(memory, stream));
  CU_OK(cuStreamSynchronize(stream));
  EXPECT_EQUAL(back[0], 7u);
  EXPECT_EQUAL(back[255], 7u);
  EXPECT_CUDA(cuMemAllocAsync(nullptr, 16, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFreeAsync(address(back.data()), stream), CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuStreamDestroy(stream));
}

// "CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION: ... if all pages in the memory range have that processor as their
// preferred location, or CU_DEVICE_INVALID if either all the pages don't have the same preferred location or ... at
// all."
CASE(range_attributes) {
  check::use_context();
  CUdeviceptr block = 0;
  CU_OK(cuMemAllocManaged(&block, 2 << 20, CU_MEM_ATTACH_GLOBAL));
  int concurrent = 0, preferred = -5, mostly = -5;
  CU_OK(cuDeviceGetAttribute(&concurrent, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 0));
  if (concurrent) {
    CUmemLocation place = {};
    place.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CU_OK(cuMemAdvise(block, 1 << 20, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, place));
    CU_OK(cuMemRangeGetAttribute(&preferred, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, block, 1 << 20));
    EXPECT(preferred == 0);
    void* data[] = {&preferred, &mostly};
    size_t sizes[] = {4, 4};
    CUmem_range_attribute wanted[] = {CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};
    CU_OK(cuMemRangeGetAttributes(data, sizes, wanted, 2, block, 2 << 20));
    EXPECT(preferred == CU_DEVICE_INVALID && mostly == 0);
  }
  EXPECT_CUDA(cuMemRangeGetAttribute(&mostly, 3, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, block, 1 << 20),
              CUDA_ERROR_INVALID_VALUE);
  CU_OK(cuMemFree(block));
}

CHECK_MAIN()
