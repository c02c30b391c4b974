// What the runtime refuses of devices, streams, events, capture, functions, occupancy, launches and libraries.
// Oracle: "CUDA Runtime API", Device, Stream, Event and Library Management, Execution Control, Occupancy: the "Returns"
// of each function.

#include "streams.h"

namespace {

const void* function() {
  return reinterpret_cast<const void*>(put);
}

/// A host function's address is no kernel's: CUDA 13 takes it for a handle.
void no_kernel(void*) {}
const void* no_function() {
  return reinterpret_cast<const void*>(no_kernel);
}

struct Shape {
  dim3 grid, block;
  size_t shared;
};

cudaError_t launch_shape(const Shape& shape, bool cooperative) {
  int* at = nullptr;
  int value = 0;
  void* arguments[] = {&at, &value};
  (void)cudaGetLastError();
  if (cooperative)
    return cudaLaunchCooperativeKernel(function(), shape.grid, shape.block, arguments, shape.shared, nullptr);
  return cudaLaunchKernel(function(), shape.grid, shape.block, arguments, shape.shared, nullptr);
}

constexpr char kPtx[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry empty(.param .u64 a) { ret; }\n";

}  // namespace

CASE(devices) {
  int value = 0, devices[1] = {99};
  char text[64];
  size_t bytes = 0;
  cudaDeviceProp properties;
  cudaFuncCache cache;
  cudaSharedMemConfig shared;
  EXPECT_CUDA(cudaGetDeviceCount(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDevice(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaSetDevice(99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaSetDevice(-1), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaSetValidDevices(devices, 1), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaSetValidDevices(nullptr, 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDeviceProperties(nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDeviceProperties(&properties, 99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetPCIBusId(nullptr, 64, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetPCIBusId(text, 64, 99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceGetByPCIBusId(&value, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetLimit(nullptr, cudaLimitStackSize), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetLimit(&bytes, static_cast<cudaLimit>(99)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetLimit(static_cast<cudaLimit>(99), 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetCacheConfig(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetCacheConfig(static_cast<cudaFuncCache>(77)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetSharedMemConfig(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceSetSharedMemConfig(static_cast<cudaSharedMemConfig>(77)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceCanAccessPeer(&value, 0, 99), cudaErrorInvalidDevice);
  EXPECT_CUDA(cudaDeviceEnablePeerAccess(99, 0), cudaErrorInvalidDevice);
  const cudaChannelFormatDesc four = cudaCreateChannelDesc<float4>();
  EXPECT_CUDA(cudaDeviceGetTexture1DLinearMaxWidth(nullptr, &four, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaDeviceGetTexture1DLinearMaxWidth(&bytes, nullptr, 0), cudaErrorInvalidValue);
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found;
  EXPECT_CUDA(cudaGetDriverEntryPointByVersion(nullptr, &entry, 13000, 0, &found), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDriverEntryPoint("cuInit", nullptr, 0, &found), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuInit", nullptr, 13000, 0, &found), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetDriverEntryPointByVersion("cuInit", &entry, 13000, 0x80, &found), cudaErrorInvalidValue);
  CUDA_OK(cudaDeviceGetCacheConfig(&cache));
  CUDA_OK(cudaDeviceGetSharedMemConfig(&shared));
}

CASE(streams) {
  Stream stream;
  cudaStream_t made = nullptr;
  cudaStreamAttrValue value = {};
  const auto unknown = static_cast<cudaStreamAttrID>(99);
  EXPECT_CUDA(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamCreateWithFlags(&made, 0x80), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamCreateWithPriority(&made, 0x80, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamCreateWithPriority(nullptr, 0, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamGetFlags(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamGetPriority(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamGetId(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamGetDevice(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamGetAttribute(stream, unknown, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamGetAttribute(stream, cudaStreamAttributePriority, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamSetAttribute(stream, unknown, &value), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamSetAttribute(stream, cudaStreamAttributePriority, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamWaitEvent(stream, nullptr, 0), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaStreamAddCallback(stream, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaEventRecord(nullptr, stream), cudaErrorInvalidResourceHandle);
}

CASE(capture) {
  Stream stream;
  cudaGraph_t graph = nullptr;
  const auto relaxed = cudaStreamCaptureModeRelaxed, unknown = static_cast<cudaStreamCaptureMode>(77);
  EXPECT_CUDA(cudaStreamBeginCapture(stream, unknown), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamBeginCapture(cudaStreamLegacy, relaxed), cudaErrorStreamCaptureUnsupported);
  EXPECT_CUDA(cudaStreamBeginCaptureToGraph(stream, nullptr, nullptr, nullptr, 0, relaxed), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);
  EXPECT_CUDA(cudaStreamIsCapturing(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaStreamGetCaptureInfo(stream, nullptr), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaThreadExchangeStreamCaptureMode(nullptr), cudaErrorInvalidValue);
  CUDA_OK(cudaStreamBeginCapture(stream, relaxed));
  EXPECT_CUDA(cudaStreamBeginCapture(stream, relaxed), cudaErrorIllegalState);
  EXPECT_CUDA(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  EXPECT_CUDA(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT(graph == nullptr);
  CUDA_OK(cudaStreamSynchronize(stream));  // the stream is free again
}

CASE(functions) {
  cudaFuncAttributes attributes;
  cudaFunction_t found = nullptr;
  const char* name = nullptr;
  EXPECT_CUDA(cudaFuncGetAttributes(nullptr, function()), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFuncGetAttributes(&attributes, no_function()), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaFuncSetAttribute(function(), static_cast<cudaFuncAttribute>(99), 1), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFuncSetAttribute(function(), cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30),
              cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFuncSetAttribute(no_function(), cudaFuncAttributeMaxDynamicSharedMemorySize, 1024),
              cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaFuncSetCacheConfig(no_function(), cudaFuncCachePreferL1), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaFuncSetCacheConfig(function(), static_cast<cudaFuncCache>(77)), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFuncSetSharedMemConfig(no_function(), cudaSharedMemBankSizeDefault), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaFuncSetAttribute(nullptr, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024),
              cudaErrorInvalidDeviceFunction);
  EXPECT_CUDA(cudaFuncSetCacheConfig(nullptr, cudaFuncCachePreferL1), cudaErrorInvalidDeviceFunction);
  EXPECT_CUDA(cudaGetFuncBySymbol(nullptr, function()), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaGetFuncBySymbol(&found, no_function()), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaFuncGetName(nullptr, function()), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaFuncGetName(&name, no_function()), cudaErrorInvalidResourceHandle);
}

CASE(occupancy) {
  int blocks = 0;
  size_t bytes = 0;
  const void* kernel = function();
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, kernel, 32, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, no_function(), 32, 0),
              cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(nullptr, kernel, 32, 0, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, 32, 0, 0x80),
              cudaErrorInvalidValue);
  EXPECT_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(nullptr, kernel, 1, 32), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernel, 0, 32), cudaErrorInvalidValue);
}

// Each limit, and one beyond it ("CUDA C++ Programming Guide, Compute Capabilities"). A launch that was refused leaves
// nothing behind: the next one runs.
CASE(limits_of_launches) {
  cudaDeviceProp limits;
  CUDA_OK(cudaGetDeviceProperties(&limits, 0));
  const auto threads = static_cast<unsigned>(limits.maxThreadsPerBlock);
  const auto block_z = static_cast<unsigned>(limits.maxThreadsDim[2]);
  const auto grid_y = static_cast<unsigned>(limits.maxGridSize[1]),
             grid_z = static_cast<unsigned>(limits.maxGridSize[2]);
  const Shape beyond[] = {
      {dim3(1), dim3(threads + 1), 0},
      {dim3(1), dim3(threads / 2, 4), 0},
      {dim3(1), dim3(1, 1, block_z + 1), 0},
      {dim3(1, grid_y + 1), dim3(1), 0},
      {dim3(1, 1, grid_z + 1), dim3(1), 0},
      {dim3(1u << 31), dim3(1), 0},
      {dim3(0), dim3(1), 0},
      {dim3(1), dim3(0), 0},
      {dim3(1, 0), dim3(1), 0},
      {dim3(1), dim3(1, 1, 0), 0},
      {dim3(1), dim3(1), limits.sharedMemPerBlock + 1},
  };
  for (size_t i = 0; i < std::size(beyond); ++i)
    for (bool cooperative : {false, true}) {
      const cudaError_t result = launch_shape(beyond[i], cooperative);
      check::one_of(result, {cudaErrorInvalidConfiguration, cudaErrorInvalidValue}, "a launch beyond a limit", __FILE__,
                    __LINE__);
      EXPECT_EQUAL_AT(static_cast<long long>(i), cudaGetLastError(), result);
    }
  EXPECT_EQUAL(launch_shape({dim3(1u << 20), dim3(threads), 0}, true), cudaErrorCooperativeLaunchTooLarge);
  (void)cudaGetLastError();
  EXPECT_CUDA(cudaLaunchKernel(no_function(), dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaLaunchCooperativeKernel(no_function(), dim3(1), dim3(1), nullptr, 0, nullptr),
              cudaErrorInvalidResourceHandle);
  EXPECT_CUDA(cudaLaunchKernel(nullptr, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_CUDA(cudaLaunchKernelExC(nullptr, function(), nullptr), cudaErrorInvalidValue);
  (void)cudaGetLastError();
  Device memory(1);
  launch(nullptr, put, memory, 5);
  EXPECT_EQUAL(memory.value(), 5);
}

CASE(libraries) {
  cudaLibrary_t library = nullptr, none = nullptr;
  cudaKernel_t kernel = nullptr;
  void* at = nullptr;
  size_t bytes = 0;
  unsigned count = 0;
  CUDA_OK(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  EXPECT_CUDA(cudaLibraryLoadData(nullptr, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLibraryLoadData(&none, nullptr, nullptr, nullptr, 0, nullptr, nullptr, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLibraryLoadFromFile(&none, "/nowhere/at/all", nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaErrorFileNotFound);
  EXPECT_CUDA(cudaLibraryGetKernel(&kernel, library, "not_there"), cudaErrorSymbolNotFound);
  EXPECT_CUDA(cudaLibraryGetKernel(nullptr, library, "empty"), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLibraryGetKernelCount(nullptr, library), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLibraryEnumerateKernels(nullptr, 1, library), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaLibraryGetGlobal(&at, &bytes, library, "not_there"), cudaErrorSymbolNotFound);
  EXPECT_CUDA(cudaLibraryGetManaged(&at, &bytes, library, "not_there"), cudaErrorSymbolNotFound);
  CUDA_OK(cudaLibraryGetKernel(&kernel, library, "empty"));
  CUDA_OK(cudaLibraryGetKernelCount(&count, library));
  EXPECT_CUDA(cudaKernelSetAttributeForDevice(kernel, static_cast<cudaFuncAttribute>(99), 1, 0), cudaErrorInvalidValue);
  EXPECT_CUDA(cudaKernelSetAttributeForDevice(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024, 99),
              cudaErrorInvalidDevice);
  CUDA_OK(cudaLibraryUnload(library));
  EXPECT_CUDA(cudaLibraryUnload(nullptr), cudaErrorInvalidResourceHandle);
}

CHECK_MAIN()
