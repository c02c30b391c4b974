// What the runtime refuses of memory: pointers that are null, foreign, freed or misaligned, sizes beyond an allocation,
// kinds and shapes that make no sense; pools, symbols, arrays, textures and surfaces.
// Oracle: "CUDA Runtime API", Memory Management, Stream Ordered Memory Allocator, Texture and Surface Object
// Management: the "Returns" of each function.

#include "api.h"

namespace {

constexpr size_t kSize = size_t{1} << 20, kBeyond = size_t{1} << 40;
const auto kUnknownKind = static_cast<cudaMemcpyKind>(77);

/// Device memory of kSize bytes that goes away with the scope.
struct Memory {
  char* at = nullptr;
  Memory() { CUDA_OK(cudaMalloc(&at, kSize)); }
  ~Memory() { CUDA_OK(cudaFree(at)); }
  Memory(const Memory&) = delete;
  operator char*() const { return at; }
};

struct Array {
  cudaArray_t array = nullptr;
  explicit Array(unsigned flags = cudaArrayDefault) {
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CUDA_OK(cudaMallocArray(&array, &format, 16, 16, flags));
  }
  ~Array() { CUDA_OK(cudaFreeArray(array)); }
  Array(const Array&) = delete;
  operator cudaArray_t() const { return array; }
};

cudaMemcpy3DParms slices(char* to, char* from, size_t pitch) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from, pitch, pitch, 4);
  copy.dstPtr = make_cudaPitchedPtr(to, pitch, pitch, 4);
  copy.extent = make_cudaExtent(64, 4, 2);
  copy.kind = cudaMemcpyDeviceToDevice;
  return copy;
}

cudaMemcpy3DPeerParms peer_slices(char* to, char* from, size_t pitch) {
  cudaMemcpy3DPeerParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(from, pitch, pitch, 4);
  copy.dstPtr = make_cudaPitchedPtr(to, pitch, pitch, 4);
  copy.extent = make_cudaExtent(64, 4, 2);
  return copy;
}

__device__ int symbol_of_device[16];

cudaResourceDesc resource_of(cudaArray_t array) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  return resource;
}

}  // namespace

CASE(allocating) {
  void* at = nullptr;
  size_t pitch = 0;
  cudaPitchedPtr pitched;
  EXPECT_CUDA(cudaMalloc(static_cast<void**>(nullptr), 64), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMalloc(&at, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_CUDA(cudaMallocPitch(static_cast<void**>(nullptr), &pitch, 64, 4), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocPitch(&at, &pitch, size_t{1} << 40, 1 << 10), cudaErrorMemoryAllocation);
  EXPECT_CUDA(cudaMalloc3D(nullptr, make_cudaExtent(64, 4, 2)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMalloc3D(&pitched, make_cudaExtent(size_t{1} << 40, 1 << 5, 1 << 5)), cudaErrorMemoryAllocation);
  EXPECT_CUDA(cudaMallocManaged(static_cast<void**>(nullptr), 64), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocManaged(&at, 64, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocHost(static_cast<void**>(nullptr), 64), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostAlloc(&at, 64, 0x80), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostAlloc(static_cast<void**>(nullptr), 64, 0), cudaErrorInvalidValue);
  CUDA_OK(cudaMemGetInfo(nullptr, &pitch));  // either may be null. Oracle: an H200 (driver 580)
  CUDA_OK(cudaMemGetInfo(&pitch, nullptr));
}

CASE(freeing) {
  Memory memory;
  char local[64];
  void *gone = nullptr, *host = nullptr;
  CUDA_OK(cudaMalloc(&gone, 64));
  CUDA_OK(cudaFree(gone));
  CUDA_OK(cudaFree(nullptr));
  CUDA_OK(cudaFreeHost(nullptr));
  EXPECT_CUDA(cudaFree(gone), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFree(memory + 256), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFree(local), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFreeHost(local), cudaErrorInvalidValue);
  CUDA_OK(cudaMallocHost(&host, 64));
  CUDA_OK(cudaFreeHost(host));
  EXPECT_CUDA(cudaFreeHost(host), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostUnregister(local), cudaErrorHostMemoryNotRegistered);
}

CASE(copies) {
  Memory memory;
  char host[64] = {};
  EXPECT_CUDA(cudaMemcpy(memory, host, 16, kUnknownKind), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy(nullptr, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(memory, nullptr, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(host, nullptr, 16, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy(memory, memory, kBeyond, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyAsync(memory, host, 16, kUnknownKind, nullptr), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpyAsync(nullptr, host, 16, cudaMemcpyHostToDevice, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyPeer(memory, 0, memory, 99, 16), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaMemcpyPeerAsync(memory, 0, memory, 99, 16, nullptr), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaMemcpyPeerAsync(nullptr, 0, memory, 0, 16, nullptr), cudaErrorInvalidValue);
}

CASE(boxes) {
  Memory memory;
  const auto within = cudaMemcpyDeviceToDevice;
  EXPECT_CUDA(cudaMemcpy2D(memory, 32, memory + 4096, 64, 64, 4, within), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy2D(memory, 64, memory + 4096, 32, 64, 4, within), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy2D(memory, 64, memory + 4096, 64, 64, 4, kUnknownKind), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy2D(nullptr, 64, memory, 64, 64, 4, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy2DAsync(memory, 32, memory + 4096, 64, 64, 4, within, nullptr), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy2DAsync(nullptr, 64, memory, 64, 64, 4, within, nullptr), cudaErrorInvalidValue);
  const cudaMemcpy3DParms narrow = slices(memory, memory + 4096, 32);
  cudaMemcpy3DParms unknown = slices(memory, memory + 4096, 64);
  unknown.kind = kUnknownKind;
  cudaMemcpy3DParms low = slices(memory, memory + 4096, 64);
  low.srcPtr.ysize = 2;  // fewer rows a slice than are copied
  const cudaMemcpy3DPeerParms peer = peer_slices(memory, memory + 4096, 32);
  EXPECT_CUDA(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy3D(&narrow), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy3DAsync(&narrow, nullptr), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy3D(&low), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy3D(&unknown), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy3DAsync(nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy3DAsync(&unknown, nullptr), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy3DPeer(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy3DPeer(&peer), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy3DPeerAsync(nullptr, nullptr), cudaErrorInvalidValue);
}

// Bytes beyond what a size can hold. An H200 (driver 580) lets them wrap, copies nothing or the wrong texels, and
// answers cudaSuccess; we refuse.
CASE(boxes_larger_than_any_memory) {
  if (!check::on_cupola()) return;
  constexpr size_t kWraps = size_t{1} << 60;  // times 16 bytes
  cudaArray_t array = nullptr;
  const cudaChannelFormatDesc texel = cudaCreateChannelDesc<float4>();
  CUDA_OK(cudaMallocArray(&array, &texel, 8, 8));
  Memory memory;
  cudaMemcpy3DParms in = {}, out = {};
  in.srcPtr = out.dstPtr = make_cudaPitchedPtr(memory, 1024, 64, 8);
  in.dstArray = out.srcArray = array;
  in.kind = out.kind = cudaMemcpyDeviceToDevice;
  for (cudaMemcpy3DParms* copy : {&in, &out}) {
    for (size_t width : {kWraps, kWraps + 1}) {
      copy->extent = make_cudaExtent(width, 1, 1);
      EXPECT_CUDA(cudaMemcpy3D(copy), cudaErrorInvalidValue);
      EXPECT_CUDA(cudaMemcpy3DAsync(copy, nullptr), cudaErrorInvalidValue);
    }
    copy->extent = make_cudaExtent(1, 1, 1);
    CUDA_OK(cudaMemcpy3D(copy));
  }
  in.dstPos.x = out.srcPos.x = kWraps;
  EXPECT_CUDA(cudaMemcpy3D(&in), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy3D(&out), cudaErrorInvalidValue);
  in.extent.height = out.extent.height = 0;  // nothing to copy, as on an H200
  CUDA_OK(cudaMemcpy3D(&in));
  CUDA_OK(cudaMemcpy3D(&out));
  CUDA_OK(cudaFreeArray(array));
}

CASE(fills) {
  Memory memory;
  char local[64];
  const cudaExtent extent = make_cudaExtent(64, 4, 2);
  EXPECT_CUDA(cudaMemset(nullptr, 1, 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset(local, 1, 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset(memory, 1, kBeyond), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemsetAsync(nullptr, 1, 16, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset2D(memory, 8, 1, 16, 4), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset2DAsync(memory, 8, 1, 16, 4, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset2DAsync(nullptr, 64, 1, 16, 4, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset3D(make_cudaPitchedPtr(nullptr, 64, 64, 4), 1, extent), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset3D(make_cudaPitchedPtr(memory, 32, 32, 4), 1, extent), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemset3DAsync(make_cudaPitchedPtr(nullptr, 64, 64, 4), 1, extent, nullptr), cudaErrorInvalidValue);
}

// What fits into the slices that the pitched pointer has. Oracle: an H200 (driver 580).
CASE(fills_of_slices) {
  Memory memory;
  struct Row {
    size_t pitch, ysize;
    cudaExtent extent;
    cudaError_t code;
  };
  const Row rows[] = {
      {64, 4, {16, 4, 2}, cudaSuccess},
      {64, 2, {16, 4, 2}, cudaErrorInvalidValue},  // slices of more rows than there are
      {64, 0, {16, 4, 2}, cudaErrorInvalidValue},
      {64, 0, {16, 4, 1}, cudaErrorInvalidValue},
      {64, 2, {16, 4, 1}, cudaErrorInvalidValue},
      {64, 4, {65, 1, 1}, cudaSuccess},  // a single row has no pitch
      {64, 4, {65, 1, 2}, cudaErrorInvalidValue},
      {64, 4, {65, 2, 1}, cudaErrorInvalidValue},
  };
  for (const Row& row : rows) {
    CUDA_OK(cudaMemset(memory, 0, 512));
    const cudaPitchedPtr at = make_cudaPitchedPtr(memory, row.pitch, 64, row.ysize);
    EXPECT_CUDA(cudaMemset3D(at, 1, row.extent), row.code);
    if (row.code != cudaSuccess) EXPECT(check::all_bytes(memory, 512, 0));
    EXPECT_CUDA(cudaMemset3DAsync(at, 1, row.extent, nullptr), row.code);
    CUDA_OK(cudaDeviceSynchronize());
  }
  if (!check::on_cupola()) return;  // the H200 lets it wrap, and fills the first slice twice
  const cudaPitchedPtr wraps = make_cudaPitchedPtr(memory, size_t{1} << 40, 64, size_t{1} << 24);
  EXPECT_CUDA(cudaMemset3D(wraps, 1, make_cudaExtent(16, 1, 2)), cudaErrorInvalidValue);
}

CASE(symbols) {
  int host[16] = {};
  void* at = nullptr;
  size_t size = 0;
  EXPECT_CUDA(cudaGetSymbolAddress(&at, static_cast<const void*>(host)), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaGetSymbolSize(&size, static_cast<const void*>(host)), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaMemcpyToSymbol(static_cast<const void*>(host), host, 4), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaMemcpyToSymbol(symbol_of_device, host, sizeof host + 4), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyToSymbol(symbol_of_device, host, 4, 0, cudaMemcpyDeviceToHost),
              cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpyFromSymbol(host, static_cast<const void*>(host), 4), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaMemcpyFromSymbol(host, symbol_of_device, sizeof host, 4), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyFromSymbol(host, symbol_of_device, 4, 0, cudaMemcpyHostToDevice),
              cudaErrorInvalidMemcpyDirection);
  const auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost;
  EXPECT_CUDA(cudaMemcpyToSymbolAsync(static_cast<const void*>(host), host, 4, 0, in), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaMemcpyToSymbolAsync(symbol_of_device, host, 4, sizeof host, in), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyFromSymbolAsync(host, static_cast<const void*>(host), 4, 0, out), cudaErrorInvalidSymbol);
  EXPECT_CUDA(cudaMemcpyFromSymbolAsync(host, symbol_of_device, 4, sizeof host, out), cudaErrorInvalidValue);
}

CASE(hints_for_managed_memory) {
  Memory memory;
  void* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 4096));
  cudaMemLocation device = {};
  device.type = cudaMemLocationTypeDevice;
  int value = 0;
  void* values[] = {&value};
  size_t sizes[] = {sizeof value};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributeReadMostly};
  EXPECT_CUDA(cudaMemAdvise(managed, 0, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemAdvise(memory, 4096, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPrefetchAsync(memory, 4096, device, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPrefetchAsync(managed, 4096, device, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemRangeGetAttribute(&value, 3, which[0], managed, 4096), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemRangeGetAttributes(values, sizes, which, 1, memory, 4096), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemRangeGetAttributes(nullptr, sizes, which, 1, managed, 4096), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaPointerGetAttributes(nullptr, memory), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(managed));
}

CASE(pools) {
  cudaMemPool_t pool = nullptr, made = nullptr;
  CUDA_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  cudaMemPoolProps properties = {};
  int handle = -1;
  unsigned long long number = 7;
  const auto unknown = static_cast<cudaMemPoolAttr>(99);
  cudaMemLocation place = {};
  place.type = cudaMemLocationTypeDevice;
  cudaMemAccessFlags flags;
  cudaMemPoolPtrExportData data = {};
  void *block = nullptr, *imported = nullptr;
  char local[64];
  EXPECT_CUDA(cudaMemPoolCreate(&made, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolCreate(nullptr, &properties), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolDestroy(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolDestroy(pool), cudaErrorInvalidValue);  // the device's own
  EXPECT_CUDA(cudaMemPoolTrimTo(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolGetAttribute(pool, unknown, &number), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, unknown, &number), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &number), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolSetAccess(pool, nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolGetAccess(nullptr, pool, &place), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolGetAccess(&flags, pool, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetDefaultMemPool(&made, 99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetMemPool(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetMemPool(&made, 99), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetMemPool(0, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetMemPool(99, pool), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemGetDefaultMemPool(nullptr, &place, cudaMemAllocationTypePinned), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemGetMemPool(&made, nullptr, cudaMemAllocationTypePinned), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemSetMemPool(&place, cudaMemAllocationTypePinned, nullptr), cudaErrorInvalidValue);
  const auto file = cudaMemHandleTypePosixFileDescriptor;
  EXPECT_CUDA(cudaMemPoolExportToShareableHandle(&handle, pool, file, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolImportFromShareableHandle(nullptr, nullptr, file, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolExportPointer(nullptr, local), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolImportPointer(nullptr, pool, &data), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPoolImportPointer(&imported, pool, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocAsync(static_cast<void**>(nullptr), 64, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocAsync(&block, size_t{1} << 50, nullptr), cudaErrorMemoryAllocation);
  EXPECT_CUDA(cudaMallocFromPoolAsync(&block, size_t{1} << 50, pool, nullptr), cudaErrorMemoryAllocation);
  EXPECT_CUDA(cudaMallocFromPoolAsync(&block, 64, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFreeAsync(local, nullptr), cudaErrorInvalidValue);
  cudaIpcMemHandle_t memory_of = {};
  EXPECT_CUDA(cudaIpcGetMemHandle(&memory_of, local), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaIpcOpenMemHandle(nullptr, memory_of, cudaIpcMemLazyEnablePeerAccess), cudaErrorInvalidValue);
}

CASE(arrays) {
  Array array;
  Memory memory;
  cudaArray_t made = nullptr, none = nullptr;
  const cudaChannelFormatDesc good = cudaCreateChannelDesc<float>();
  const cudaChannelFormatDesc three = {32, 32, 32, 0, cudaChannelFormatKindFloat};
  cudaChannelFormatDesc got;
  cudaExtent extent;
  unsigned flags = 0;
  float host[256] = {};
  EXPECT_CUDA(cudaMallocArray(nullptr, &good, 16, 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocArray(&made, nullptr, 16, 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocArray(&made, &three, 16, 16), cudaErrorInvalidChannelDescriptor);
  for (const cudaChannelFormatDesc& wrong : {cudaChannelFormatDesc{8, 0, 0, 0, static_cast<cudaChannelFormatKind>(77)},
                                             cudaChannelFormatDesc{8, 16, 0, 0, cudaChannelFormatKindUnsigned}})
    EXPECT_CUDA(cudaMallocArray(&made, &wrong, 16, 16), cudaErrorInvalidChannelDescriptor);
  EXPECT_CUDA(cudaMallocArray(&made, &good, 0, 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMalloc3DArray(nullptr, &good, make_cudaExtent(16, 16, 16)), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeArray(nullptr));
  EXPECT_CUDA(cudaGetChannelDesc(nullptr, array), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetChannelDesc(&got, none), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaArrayGetInfo(&got, &extent, &flags, none), cudaErrorInvalidResourceHandle);
  const auto in = cudaMemcpyHostToDevice, out = cudaMemcpyDeviceToHost, within = cudaMemcpyDeviceToDevice;
  EXPECT_CUDA(cudaMemcpyToArray(none, 0, 0, host, 64, in), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpyToArray(array, 0, 0, host, 1 << 20, in), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyFromArray(host, none, 0, 0, 64, out), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpyFromArray(host, array, 0, 0, 1 << 20, out), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyArrayToArray(array, 0, 0, none, 0, 0, 64, within), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpyArrayToArray(array, 0, 0, array, 0, 0, 1 << 20, within), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpyToArrayAsync(none, 0, 0, host, 64, in, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpyFromArrayAsync(host, none, 0, 0, 64, out, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpy2DToArray(none, 0, 0, host, 64, 64, 4, in), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, host, 64, 64, 17, in), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, host, 32, 64, 4, in), cudaErrorInvalidPitchValue);
  EXPECT_CUDA(cudaMemcpy2DToArray(array, 0, 0, host, 64, 64, 4, out), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy2DFromArray(host, 64, none, 0, 0, 64, 4, out), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpy2DFromArray(host, 64, array, 8, 0, 64, 4, out), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemcpy2DFromArray(host, 64, array, 0, 0, 64, 4, in), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy2DArrayToArray(array, 0, 0, none, 0, 0, 64, 4, within), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 64, 4, in), cudaErrorInvalidMemcpyDirection);
  EXPECT_CUDA(cudaMemcpy2DToArrayAsync(none, 0, 0, host, 64, 64, 4, in, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaMemcpy2DFromArrayAsync(host, 64, none, 0, 0, 64, 4, out, nullptr), cudaErrorInvalidResourceHandle);
}

CASE(textures_and_surfaces) {
  Array plain, storable(cudaArraySurfaceLoadStore);
  cudaTextureObject_t texture = 0, none = 0;
  cudaSurfaceObject_t surface = 0;
  cudaResourceDesc resource = resource_of(plain), unknown = resource_of(plain);
  unknown.resType = static_cast<cudaResourceType>(99);
  const cudaResourceDesc stored = resource_of(storable);
  cudaTextureDesc reading = {};
  cudaResourceViewDesc view;
  EXPECT_CUDA(cudaCreateTextureObject(nullptr, &resource, &reading, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaCreateTextureObject(&none, nullptr, &reading, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaCreateTextureObject(&none, &resource, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaCreateTextureObject(&none, &unknown, &reading, nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaCreateTextureObject(&texture, &resource, &reading, nullptr));
  EXPECT_CUDA(cudaGetTextureObjectResourceDesc(nullptr, texture), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetTextureObjectTextureDesc(nullptr, texture), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetTextureObjectResourceViewDesc(nullptr, texture), cudaErrorInvalidValue);
  CUDA_OK(cudaGetTextureObjectResourceViewDesc(&view, texture));  // it was made without one
  CUDA_OK(cudaDestroyTextureObject(texture));
  EXPECT_CUDA(cudaCreateSurfaceObject(nullptr, &stored), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaCreateSurfaceObject(&surface, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaCreateSurfaceObject(&surface, &resource), cudaErrorInvalidValue);  // not cudaArraySurfaceLoadStore
  CUDA_OK(cudaCreateSurfaceObject(&surface, &stored));
  EXPECT_CUDA(cudaGetSurfaceObjectResourceDesc(nullptr, surface), cudaErrorInvalidValue);
  CUDA_OK(cudaDestroySurfaceObject(surface));
}

CHECK_MAIN()
