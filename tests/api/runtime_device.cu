// The device that a program finds, its attributes, flags and limits, and versions.
// Oracle: "CUDA Runtime API", Device Management, Version Management, Profiler Control, and what they say must agree.

#include <cuda.h>
#include <cuda_profiler_api.h>

#include "api.h"

CASE(versions) {
  int runtime = 0, driver = 0;
  CUDA_OK(cudaRuntimeGetVersion(&runtime));
  CUDA_OK(cudaDriverGetVersion(&driver));
  EXPECT_EQUAL(runtime, CUDART_VERSION);
  EXPECT(driver / 1000 >= CUDART_VERSION / 1000);
  EXPECT_CUDA(cudaRuntimeGetVersion(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDriverGetVersion(nullptr), cudaErrorInvalidValue);
}

CASE(count_and_current_device) {
  int count = 0, device = -1;
  CUDA_OK(cudaGetDeviceCount(&count));
  EXPECT(count >= 1);
  CUDA_OK(cudaGetDevice(&device));
  EXPECT_EQUAL(device, 0);
  CUDA_OK(cudaSetDevice(count - 1));
  CUDA_OK(cudaGetDevice(&device));
  EXPECT_EQUAL(device, count - 1);
  CUDA_OK(cudaSetDevice(0));
  EXPECT_CUDA(cudaSetDevice(count), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaSetDevice(-1), cudaErrorInvalidDevice);
  CUDA_OK(cudaGetDevice(&device));
  EXPECT_EQUAL(device, 0);
  EXPECT_CUDA(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDevice(nullptr), cudaErrorInvalidValue);
}

CASE(current_device_belongs_to_the_thread) {
  int other = -1;
  std::thread([&] { CUDA_OK(cudaGetDevice(&other)); }).join();
  EXPECT_EQUAL(other, 0);
}

CASE(init) {
  CUDA_OK(cudaDeviceReset());
  unsigned flags = 0;
  int active = -1;
  EXPECT_CUDA(cudaInit(1), cudaErrorInvalidValue);
  EXPECT_EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQUAL(active, 0);
  CUDA_OK(cudaInit(0));
  EXPECT_EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQUAL(active, 1);
}

CASE(init_device) {
  CUDA_OK(cudaInitDevice(0, 0, 0));
  EXPECT_CUDA(cudaInitDevice(9999, 0, 0), cudaErrorInvalidDevice);
}

CASE(properties) {
  cudaDeviceProp properties;
  CUDA_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT(properties.name[0] != 0);
  EXPECT(properties.totalGlobalMem > 0);
  EXPECT_EQUAL(properties.warpSize, 32);
  EXPECT_EQUAL(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQUAL(properties.maxThreadsDim[2], 64);
  EXPECT_EQUAL(properties.maxGridSize[0], 2147483647);
  EXPECT(properties.major >= 7);
  EXPECT(properties.multiProcessorCount >= 1);
  EXPECT(properties.sharedMemPerBlock >= 48 * 1024);
  EXPECT(properties.unifiedAddressing == 1);
  EXPECT(properties.managedMemory == 1);
  EXPECT_CUDA(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDeviceProperties(&properties, 9999), cudaErrorInvalidDevice);
}

CASE(attributes_agree_with_properties) {
  cudaDeviceProp properties;
  CUDA_OK(cudaGetDeviceProperties(&properties, 0));
  auto attribute = [](cudaDeviceAttr which) {
    int value = -1;
    CUDA_OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
  };
  EXPECT_EQUAL(attribute(cudaDevAttrMaxThreadsPerBlock), properties.maxThreadsPerBlock);
  EXPECT_EQUAL(attribute(cudaDevAttrWarpSize), properties.warpSize);
  EXPECT_EQUAL(attribute(cudaDevAttrMaxBlockDimX), properties.maxThreadsDim[0]);
  EXPECT_EQUAL(attribute(cudaDevAttrMaxGridDimY), properties.maxGridSize[1]);
  EXPECT_EQUAL(attribute(cudaDevAttrMultiProcessorCount), properties.multiProcessorCount);
  EXPECT_EQUAL(attribute(cudaDevAttrComputeCapabilityMajor), properties.major);
  EXPECT_EQUAL(attribute(cudaDevAttrComputeCapabilityMinor), properties.minor);
  EXPECT_EQUAL(attribute(cudaDevAttrMaxSharedMemoryPerBlock), properties.sharedMemPerBlock);
  EXPECT_EQUAL(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin), properties.sharedMemPerBlockOptin);
  EXPECT_EQUAL(attribute(cudaDevAttrMaxThreadsPerMultiProcessor), properties.maxThreadsPerMultiProcessor);
  EXPECT_EQUAL(attribute(cudaDevAttrTotalConstantMemory), properties.totalConstMem);
  EXPECT_EQUAL(attribute(cudaDevAttrMaxRegistersPerBlock), properties.regsPerBlock);
  int value = 0;
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(99999), 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 9999), cudaErrorInvalidDevice);
}

CASE(choose_device) {
  cudaDeviceProp wanted;
  CUDA_OK(cudaGetDeviceProperties(&wanted, 0));
  int device = -1, count = 0;
  CUDA_OK(cudaGetDeviceCount(&count));
  CUDA_OK(cudaChooseDevice(&device, &wanted));
  EXPECT(device >= 0 && device < count);
  EXPECT_CUDA(cudaChooseDevice(nullptr, &wanted), cudaErrorInvalidValue);
}

CASE(flags) {
  CUDA_OK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
  unsigned flags = 0;
  CUDA_OK(cudaGetDeviceFlags(&flags));
  EXPECT_EQUAL(flags & cudaDeviceScheduleMask, cudaDeviceScheduleBlockingSync);
  CUDA_OK(cudaSetDeviceFlags(cudaDeviceScheduleAuto));
  EXPECT_CUDA(cudaSetDeviceFlags(0xffffff), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDeviceFlags(nullptr), cudaErrorInvalidValue);
}

CASE(limits) {
  size_t before = 0, after = 0;
  CUDA_OK(cudaDeviceGetLimit(&before, cudaLimitStackSize));
  EXPECT(before > 0);
  CUDA_OK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
  CUDA_OK(cudaDeviceGetLimit(&after, cudaLimitStackSize));
  EXPECT(after >= 4096);
  CUDA_OK(cudaDeviceGetLimit(&after, cudaLimitMallocHeapSize));
  EXPECT(after > 0);
  CUDA_OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 2 << 20));
  CUDA_OK(cudaDeviceGetLimit(&after, cudaLimitPrintfFifoSize));
  EXPECT(after >= 2 << 20);
  EXPECT_CUDA(cudaDeviceGetLimit(nullptr, cudaLimitStackSize), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetLimit(&after, static_cast<cudaLimit>(99)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);
}

CASE(cache_and_bank_preferences_are_hints) {
  cudaFuncCache cache = static_cast<cudaFuncCache>(77);
  CUDA_OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
  CUDA_OK(cudaDeviceGetCacheConfig(&cache));
  EXPECT(cache >= cudaFuncCachePreferNone && cache <= cudaFuncCachePreferEqual);
  // Banks have four bytes whatever is wished. Oracle: an H200 (driver 580).
  for (const auto wish :
       {cudaSharedMemBankSizeEightByte, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeDefault}) {
    cudaSharedMemConfig banks = static_cast<cudaSharedMemConfig>(77);
    CUDA_OK(cudaDeviceSetSharedMemConfig(wish));
    CUDA_OK(cudaDeviceGetSharedMemConfig(&banks));
    EXPECT_EQUAL(banks, cudaSharedMemBankSizeFourByte);
  }
  CUDA_OK(cudaCtxResetPersistingL2Cache());
}

CASE(stream_priorities) {
  int least = -99, greatest = 99;
  CUDA_OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  EXPECT_EQUAL(least, 0);
  EXPECT(greatest <= least);
  CUDA_OK(cudaDeviceGetStreamPriorityRange(nullptr, &greatest));
}

CASE(pci_bus_id) {
  char text[32] = "";
  CUDA_OK(cudaDeviceGetPCIBusId(text, sizeof text, 0));
  EXPECT(std::strchr(text, ':') != nullptr);
  int device = -1;
  CUDA_OK(cudaDeviceGetByPCIBusId(&device, text));
  EXPECT_EQUAL(device, 0);
  EXPECT_CUDA(cudaDeviceGetPCIBusId(nullptr, 32, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetPCIBusId(text, 32, 9999), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetByPCIBusId(&device, "no such bus"), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetByPCIBusId(&device, "00ff:00:00.0"), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetByPCIBusId(nullptr, "0000:00:00.0"), cudaErrorInvalidValue);
}

CASE(a_device_is_no_peer_of_itself) {
  int value = -1;
  CUDA_OK(cudaDeviceCanAccessPeer(&value, 0, 0));
  EXPECT_EQUAL(value, 0);
  EXPECT_CUDA(cudaDeviceCanAccessPeer(&value, 0, 9999), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceEnablePeerAccess(0, 0), cudaErrorPeerAccessUnsupported);
  EXPECT_CUDA(cudaDeviceDisablePeerAccess(0), cudaErrorPeerAccessNotEnabled);
  EXPECT_CUDA(cudaDeviceDisablePeerAccess(99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
}

CASE(profiler_switches) {
  CUDA_OK(cudaProfilerStart());
  CUDA_OK(cudaProfilerStop());
}

__device__ int counter = 5;

__global__ void count_kernel() {
  ++counter;
}

CASE(reset_frees_memory_and_restores_variables) {
  void* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, 1024));
  count_kernel<<<1, 1>>>();
  CUDA_OK(cudaDeviceSynchronize());
  int value = 0;
  CUDA_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT_EQUAL(value, 6);
  CUDA_OK(cudaDeviceReset());
  cudaPointerAttributes attributes;
  CUDA_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeUnregistered);
  CUDA_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT_EQUAL(value, 5);
  CUDA_OK(cudaMalloc(&memory, 1024));
  CUDA_OK(cudaFree(memory));
}

__global__ void trap_kernel() {
  __trap();
}

// The context is begun, and made current, through the driver API alone.
CASE(reset_ends_what_the_program_retained) {
  CUDA_OK(cudaDeviceReset());
  CUcontext primary = nullptr;
  EXPECT_EQUAL(cuDevicePrimaryCtxRetain(&primary, 0), CUDA_SUCCESS);
  EXPECT_EQUAL(cuCtxSetCurrent(primary), CUDA_SUCCESS);
  void* memory = nullptr;
  CUDA_OK(cudaMalloc(&memory, 1024));
  count_kernel<<<1, 1>>>();
  CUDA_OK(cudaDeviceSynchronize());
  trap_kernel<<<1, 1>>>();
  EXPECT(cudaDeviceSynchronize() != cudaSuccess);

  CUDA_OK(cudaDeviceReset());
  unsigned flags = 0;
  int active = -1, value = 0;
  EXPECT_EQUAL(cuDevicePrimaryCtxGetState(0, &flags, &active), CUDA_SUCCESS);
  EXPECT_EQUAL(active, 0);
  CUDA_OK(cudaDeviceSynchronize());
  cudaPointerAttributes attributes{};
  CUDA_OK(cudaPointerGetAttributes(&attributes, memory));
  EXPECT_EQUAL(attributes.type, cudaMemoryTypeUnregistered);
  CUDA_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
  EXPECT_EQUAL(value, 5);

  // The program's hold is still its own.
  CUDA_OK(cudaDeviceReset());
  EXPECT_EQUAL(cuDevicePrimaryCtxRelease(0), CUDA_SUCCESS);
  EXPECT_EQUAL(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQUAL(cuCtxSetCurrent(nullptr), CUDA_SUCCESS);
}

__global__ void take_all(int* taken) {
  constexpr int kMost = 256;
  void* blocks[kMost];
  int count = 0;
  while (count < kMost && (blocks[count] = malloc(1 << 20))) ++count;
  for (int i = 0; i < count; ++i) free(blocks[i]);
  *taken = count;
}

// The limit is at least kept to, and not exceeded by much: a GPU rounds it up.
CASE(malloc_heap_size) {
  CUDA_OK(cudaDeviceReset());
  CUDA_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
  size_t limit = 0;
  CUDA_OK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
  EXPECT(limit >= 64 << 20);
  int *device = nullptr, taken = 0;
  CUDA_OK(cudaMalloc(&device, sizeof *device));
  for (int round = 0; round < 2; ++round) {
    take_all<<<1, 1>>>(device);
    CUDA_OK(cudaMemcpy(&taken, device, sizeof taken, cudaMemcpyDeviceToHost));
    EXPECT(taken >= 56 && taken <= 96);
  }
  CUDA_OK(cudaFree(device));
}

CASE(a_thread_goes_on_after_another_ones_reset) {
  std::atomic<int> step{0};
  std::thread other([&] {
    void* memory = nullptr;
    CUDA_OK(cudaMalloc(&memory, 1024));  // the primary context is current here from now on
    count_kernel<<<1, 1>>>();
    CUDA_OK(cudaDeviceSynchronize());
    step = 1;
    while (step != 2) check::Gate::pause(1);
    int device = -1;
    CUDA_OK(cudaGetDevice(&device));
    EXPECT_EQUAL(device, 0);
    CUDA_OK(cudaMalloc(&memory, 1024));
    CUDA_OK(cudaMemset(memory, 3, 1024));
    count_kernel<<<1, 1>>>();
    CUDA_OK(cudaDeviceSynchronize());
    EXPECT(check::all_bytes(memory, 1024, 3));
    int value = 0;
    CUDA_OK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    EXPECT_EQUAL(value, 6);
    CUDA_OK(cudaFree(memory));
  });
  while (step != 1) check::Gate::pause(1);
  CUDA_OK(cudaDeviceReset());
  step = 2;
  other.join();
}

CASE(atomic_capabilities) {
  unsigned capabilities[2] = {~0u, ~0u};
  const cudaAtomicOperation operations[] = {cudaAtomicOperationIntegerAdd, cudaAtomicOperationCAS};
  CUDA_OK(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 0));
  EXPECT(capabilities[0] < 128 && capabilities[1] < 128);  // bits of cudaAtomicOperationCapability
  const cudaAtomicOperation none[] = {static_cast<cudaAtomicOperation>(99)};
  EXPECT_CUDA(cudaDeviceGetHostAtomicCapabilities(nullptr, operations, 2, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetHostAtomicCapabilities(capabilities, none, 1, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetHostAtomicCapabilities(capabilities, operations, 2, 99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetP2PAtomicCapabilities(capabilities, operations, 2, 0, 99), cudaErrorInvalidDevice);
  (void)cudaGetLastError();
}

// No process has a budget of memory that it could exceed, so that nobody is ever notified.
CASE(notifications) {
  const cudaAsyncCallback callback = [](cudaAsyncNotificationInfo_t*, void*, cudaAsyncCallbackHandle_t) {};
  cudaAsyncCallbackHandle_t handle = nullptr;
  if (!SUPPORTED(cudaDeviceRegisterAsyncNotification(0, callback, nullptr, &handle))) return;
  EXPECT(handle != nullptr);
  CUDA_OK(cudaDeviceUnregisterAsyncNotification(0, handle));
  EXPECT_CUDA(cudaDeviceRegisterAsyncNotification(0, nullptr, nullptr, &handle), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceUnregisterAsyncNotification(0, nullptr), cudaErrorInvalidValue);
  (void)cudaGetLastError();
}

CHECK_MAIN()
