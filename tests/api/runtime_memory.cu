// Allocating device, host and managed memory, and asking what a pointer is.
// Oracle: "CUDA Runtime API", Memory Management, Unified Addressing, Stream Ordered Memory Allocator.

#include "api.h"

__global__ void fill_kernel(int* out, int count, int value) {
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) out[i] = value + i;
}

static void expect_filled(const int* values, int count, int value) {
  for (int i = 0; i < count; ++i) EXPECT_EQUAL_AT(i, values[i], value + i);
}

CASE(malloc_and_free) {
  int* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, 1000 * sizeof(int)));
  EXPECT(memory != nullptr);
  EXPECT_EQUAL(reinterpret_cast<uintptr_t>(memory) % 256, 0u);
  fill_kernel<<<4, 256>>>(memory, 1000, 7);
  std::vector<int> host(1000);
  CUDA_OK(cudaMemcpy(host.data(), memory, 4000, cudaMemcpyDeviceToHost));
  expect_filled(host.data(), 1000, 7);
  CUDA_OK(cudaFree(memory));
}

CASE(malloc_refuses) {
  void* memory = &memory;
  EXPECT_CUDA(cudaMalloc(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMalloc(&memory, size_t{1} << 50), cudaErrorMemoryAllocation);
  EXPECT_CUDA(cudaGetLastError(), cudaErrorMemoryAllocation);
  CUDA_OK(cudaMalloc(&memory, 0));
  EXPECT(memory == nullptr);
}

CASE(free_refuses) {
  CUDA_OK(cudaFree(nullptr));
  char* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, 1024));
  EXPECT_CUDA(cudaFree(memory + 16), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(memory));
  EXPECT_CUDA(cudaFree(memory), cudaErrorInvalidValue);
  int on_the_stack = 0;
  EXPECT_CUDA(cudaFree(&on_the_stack), cudaErrorInvalidValue);
}

CASE(pinned_host_memory) {
  int* host = nullptr;
  CUDA_OK(cudaMallocHost(&host, 256 * sizeof(int)));
  for (int i = 0; i < 256; ++i) host[i] = -1;
  fill_kernel<<<1, 256>>>(host, 256, 3);  // unified addressing: the same pointer works on the device
  CUDA_OK(cudaDeviceSynchronize());
  expect_filled(host, 256, 3);
  CUDA_OK(cudaFreeHost(host));
  EXPECT_CUDA(cudaFreeHost(host), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeHost(nullptr));
  EXPECT_CUDA(cudaMallocHost(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
}

CASE(host_alloc_flags) {
  int* host = nullptr;
  CUDA_OK(cudaHostAlloc(&host, 4096, cudaHostAllocPortable | cudaHostAllocMapped));
  unsigned flags = 0;
  CUDA_OK(cudaHostGetFlags(&flags, host));
  EXPECT_EQUAL(flags & 3u, cudaHostAllocPortable | cudaHostAllocMapped);
  int* device = nullptr;
  CUDA_OK(cudaHostGetDevicePointer(&device, host, 0));
  fill_kernel<<<4, 256>>>(device, 1024, 11);
  CUDA_OK(cudaDeviceSynchronize());
  expect_filled(host, 1024, 11);
  EXPECT_CUDA(cudaHostGetDevicePointer(&device, host, 0xff), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostGetFlags(nullptr, host), cudaErrorInvalidValue);
  CUDA_OK(cudaFreeHost(host));
  EXPECT_CUDA(cudaHostAlloc(&host, 4096, 0x1000), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostGetFlags(&flags, &flags), cudaErrorInvalidValue);
}

CASE(register_host_memory) {
  int* host = static_cast<int*>(std::aligned_alloc(4096, 8192));
  std::memset(host, 0, 8192);
  CUDA_OK(cudaHostRegister(host, 8192, cudaHostRegisterMapped));
  int* device = nullptr;
  CUDA_OK(cudaHostGetDevicePointer(&device, host, 0));
  fill_kernel<<<8, 256>>>(device, 2048, 5);
  CUDA_OK(cudaDeviceSynchronize());
  expect_filled(host, 2048, 5);
  cudaPointerAttributes attributes;
  CUDA_OK(cudaPointerGetAttributes(&attributes, host + 9));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeHost);
  EXPECT_CUDA(cudaHostRegister(host, 8192, 0), cudaErrorHostMemoryAlreadyRegistered);
  CUDA_OK(cudaHostUnregister(host));
  EXPECT_CUDA(cudaHostUnregister(host), cudaErrorHostMemoryNotRegistered);
  EXPECT_CUDA(cudaHostRegister(nullptr, 8192, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostRegister(host, 0, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaHostUnregister(nullptr), cudaErrorInvalidValue);
  std::free(host);
}

CASE(managed_memory) {
  int* shared = nullptr;
  CUDA_OK(cudaMallocManaged(&shared, 512 * sizeof(int)));
  for (int i = 0; i < 512; ++i) shared[i] = 0;
  fill_kernel<<<2, 256>>>(shared, 512, 21);
  CUDA_OK(cudaDeviceSynchronize());
  expect_filled(shared, 512, 21);
  CUDA_OK(cudaFree(shared));
  CUDA_OK(cudaMallocManaged(&shared, 0));
  EXPECT_CUDA(cudaMallocManaged(&shared, 16, 0x77), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocManaged(static_cast<void**>(nullptr), 16), cudaErrorInvalidValue);
  CUDA_OK(cudaMallocManaged(&shared, 16, cudaMemAttachHost));
  shared[0] = 4;
  EXPECT_EQUAL(shared[0], 4);
  CUDA_OK(cudaFree(shared));
}

CASE(pitched_memory) {
  char* memory = nullptr;
  size_t pitch = 0;
  CUDA_OK(cudaMallocPitch(&memory, &pitch, 100, 7));
  EXPECT(pitch >= 100 && pitch % 16 == 0);
  CUDA_OK(cudaMemset(memory, 3, pitch * 7));
  EXPECT(check::all_bytes(memory, pitch * 6 + 100, 3));
  CUDA_OK(cudaFree(memory));
  EXPECT_CUDA(cudaMallocPitch(static_cast<void**>(nullptr), &pitch, 100, 7), cudaErrorInvalidValue);
  cudaPitchedPtr volume;
  CUDA_OK(cudaMalloc3D(&volume, make_cudaExtent(60, 5, 4)));
  EXPECT(volume.ptr != nullptr && volume.pitch >= 60);
  EXPECT_EQUAL(volume.xsize, 60u);
  EXPECT_EQUAL(volume.ysize, 5u);
  CUDA_OK(cudaMemset(volume.ptr, 9, volume.pitch * 20));
  CUDA_OK(cudaFree(volume.ptr));
  EXPECT_CUDA(cudaMalloc3D(nullptr, make_cudaExtent(60, 5, 4)), cudaErrorInvalidValue);
}

CASE(mem_get_info) {
  constexpr size_t size = size_t{128} << 20, slack = size_t{4} << 20;
  size_t before = 0, total = 0, during = 0, after = 0;
  CUDA_OK(cudaMemGetInfo(&before, &total));
  EXPECT(before > 0 && before <= total);
  void* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, size));
  CUDA_OK(cudaMemGetInfo(&during, &total));
  EXPECT(during + size <= before + slack);
  CUDA_OK(cudaFree(memory));
  CUDA_OK(cudaMemGetInfo(&after, &total));
  EXPECT(after + slack >= during + size);
}

CASE(pointer_attributes) {
  cudaPointerAttributes attributes;
  char* device = nullptr;
  CUDA_OK(cudaMalloc(&device, 256));
  CUDA_OK(cudaPointerGetAttributes(&attributes, device + 100));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQUAL(attributes.device, 0);
  EXPECT(attributes.devicePointer == device + 100);
  CUDA_OK(cudaFree(device));

  char* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 256));
  CUDA_OK(cudaPointerGetAttributes(&attributes, managed));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeManaged);
  EXPECT(attributes.devicePointer == managed && attributes.hostPointer == managed);
  CUDA_OK(cudaFree(managed));

  char* host = nullptr;
  CUDA_OK(cudaMallocHost(&host, 256));
  CUDA_OK(cudaPointerGetAttributes(&attributes, host + 1));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeHost);
  EXPECT(attributes.hostPointer == host + 1);
  CUDA_OK(cudaFreeHost(host));

  CUDA_OK(cudaPointerGetAttributes(&attributes, &attributes));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_CUDA(cudaPointerGetAttributes(nullptr, &attributes), cudaErrorInvalidValue);
}

static cudaMemLocation on_device(int device) {
  cudaMemLocation location = {};
  location.type = cudaMemLocationTypeDevice;
  location.id = device;
  return location;
}

CASE(advice_and_prefetch) {
  int* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 1 << 16));
  managed[5] = 55;
  CUDA_OK(cudaMemAdvise(managed, 1 << 16, cudaMemAdviseSetPreferredLocation, on_device(0)));
  CUDA_OK(cudaMemAdvise(managed, 1 << 16, cudaMemAdviseSetAccessedBy, on_device(0)));
  CUDA_OK(cudaMemPrefetchAsync(managed, 1 << 16, on_device(0), 0));
  cudaMemLocation host = {};
  host.type = cudaMemLocationTypeHost;
  CUDA_OK(cudaMemPrefetchAsync(managed, 1 << 16, host, 0));
  CUDA_OK(cudaDeviceSynchronize());
  EXPECT_EQUAL(managed[5], 55);
  EXPECT_CUDA(cudaMemAdvise(managed, 1 << 16, static_cast<cudaMemoryAdvise>(99), on_device(0)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPrefetchAsync(managed, 1 << 16, on_device(0), 77), cudaErrorInvalidValue);
  void* device = nullptr;
  CUDA_OK(cudaMalloc(&device, 1 << 16));
  EXPECT_CUDA(cudaMemAdvise(device, 1 << 16, cudaMemAdviseSetReadMostly, on_device(0)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMemPrefetchAsync(device, 1 << 16, on_device(0), 0), cudaErrorInvalidValue);
  CUDA_OK(cudaFree(device));
  CUDA_OK(cudaFree(managed));
}

CASE(range_attributes) {
  int* managed = nullptr;
  CUDA_OK(cudaMallocManaged(&managed, 1 << 16));
  CUDA_OK(cudaMemAdvise(managed, 1 << 16, cudaMemAdviseSetReadMostly, on_device(0)));
  int value = -5, other = -5;
  CUDA_OK(cudaMemRangeGetAttribute(&value, sizeof value, cudaMemRangeAttributeReadMostly, managed, 1 << 16));
  EXPECT_EQUAL(value, 1);
  void* data[] = {&other};
  size_t sizes[] = {sizeof other};
  cudaMemRangeAttribute which[] = {cudaMemRangeAttributeReadMostly};
  CUDA_OK(cudaMemRangeGetAttributes(data, sizes, which, 1, managed, 1 << 16));
  EXPECT_EQUAL(other, 1);
  CUDA_OK(cudaFree(managed));
}

CASE(stream_ordered_memory) {
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  int* memory = nullptr;
  CUDA_OK(cudaMallocAsync(&memory, 1024 * sizeof(int), stream));
  EXPECT(memory != nullptr);
  fill_kernel<<<4, 256, 0, stream>>>(memory, 1024, 31);
  std::vector<int> host(1024);
  CUDA_OK(cudaMemcpyAsync(host.data(), memory, 4096, cudaMemcpyDeviceToHost, stream));
  CUDA_OK(cudaFreeAsync(memory, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  expect_filled(host.data(), 1024, 31);
  EXPECT_CUDA(cudaFreeAsync(&host, stream), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaMallocAsync(static_cast<void**>(nullptr), 16, stream), cudaErrorInvalidValue);
  CUDA_OK(cudaMallocAsync(&memory, 64, stream));
  CUDA_OK(cudaStreamSynchronize(stream));
  CUDA_OK(cudaFree(memory));  // allowed for stream-ordered memory too
  CUDA_OK(cudaStreamDestroy(stream));
}

// "the memory is freed ... when the stream execution reaches the free": more than half of the memory, again and again.
CASE(stream_ordered_memory_comes_back) {
  cudaStream_t stream;
  CUDA_OK(cudaStreamCreate(&stream));
  size_t before = 0, total = 0;
  CUDA_OK(cudaMemGetInfo(&before, &total));
  const size_t most = before / 5 * 3;
  for (int i = 0; i < 50; ++i) {
    int* memory = nullptr;
    CUDA_OK(cudaMallocAsync(&memory, most, stream));
    fill_kernel<<<4, 256, 0, stream>>>(memory, 1024, i);
    CUDA_OK(cudaFreeAsync(memory, stream));
  }
  for (int i = 0; i < 20; ++i) {
    int* memory = nullptr;
    CUDA_OK(cudaMallocAsync(&memory, most, stream));
    fill_kernel<<<4, 256, 0, stream>>>(memory, 1024, i);
    CUDA_OK(cudaFreeAsync(memory, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaMalloc(&memory, most));
    CUDA_OK(cudaFree(memory));
  }
  CUDA_OK(cudaStreamDestroy(stream));
}

CHECK_MAIN()
