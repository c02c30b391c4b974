#pragma once

// What device code may call of the runtime: "CUDA C++ Programming Guide, CUDA Dynamic Parallelism", without the version
// before CUDA 12, whose kernels waited for what they launched: no cudaDeviceSynchronize() here. The functions are in
// the device library (src/device/launches.cu). A name that is not declared for the device is not there.

#include "driver_types.h"
#include "vector_types.h"

// Launches into these begin when the grid and all else that it launched is over; and in no order with anything.
#define cudaStreamTailLaunch ((cudaStream_t)0x3)
#define cudaStreamFireAndForget ((cudaStream_t)0x4)

#if defined(__CUDA__)

// By their plain names in the library also where a macro calls them otherwise (CUDA_API_PER_THREAD_DEFAULT_STREAM).
#define CUPOLA_DEVICE_RUNTIME(result, name, parameters) extern "C" __device__ result name parameters __asm__(#name);

// clang calls these two for kernel<<<grid, block, shared, stream>>>(...).
extern "C" __device__ void* cudaGetParameterBuffer(size_t alignment, size_t size);
extern "C" __device__ cudaError_t cudaLaunchDevice(void* func, void* parameterBuffer, dim3 gridDimension,
                                                   dim3 blockDimension, unsigned int sharedMemSize,
                                                   cudaStream_t stream);
extern "C" __device__ void* cudaGetParameterBufferV2(void* func, dim3 gridDimension, dim3 blockDimension,
                                                     unsigned int sharedMemSize);
extern "C" __device__ cudaError_t cudaLaunchDeviceV2(void* parameterBuffer, cudaStream_t stream);

CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaStreamCreateWithFlags, (cudaStream_t * pStream, unsigned int flags))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaStreamDestroy, (cudaStream_t stream))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaStreamWaitEvent,
                      (cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaEventCreateWithFlags, (cudaEvent_t * event, unsigned int flags))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaEventRecord, (cudaEvent_t event, cudaStream_t stream = 0))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaEventDestroy, (cudaEvent_t event))

CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaMalloc, (void** devPtr, size_t size))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaFree, (void* devPtr))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaMemcpyAsync,
                      (void* dst, const void* src, size_t count, enum cudaMemcpyKind kind, cudaStream_t stream = 0))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaMemcpy2DAsync,
                      (void* dst, size_t dpitch, const void* src, size_t spitch, size_t width, size_t height,
                       enum cudaMemcpyKind kind, cudaStream_t stream = 0))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaMemsetAsync, (void* devPtr, int value, size_t count, cudaStream_t stream = 0))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaMemset2DAsync,
                      (void* devPtr, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream = 0))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaMemset3DAsync,
                      (struct cudaPitchedPtr pitchedDevPtr, int value, struct cudaExtent extent,
                       cudaStream_t stream = 0))

// What kernels say to the graph that runs them.
CUPOLA_DEVICE_RUNTIME(void, cudaGraphSetConditional, (cudaGraphConditionalHandle handle, unsigned int value))

CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaGetLastError, (void))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaPeekAtLastError, (void))

CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaGetDevice, (int* device))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaGetDeviceCount, (int* count))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaDeviceGetAttribute, (int* value, enum cudaDeviceAttr attr, int device))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaDeviceGetLimit, (size_t* pValue, enum cudaLimit limit))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaRuntimeGetVersion, (int* runtimeVersion))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaFuncGetAttributes, (struct cudaFuncAttributes * attr, const void* func))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
                      (int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize))
CUPOLA_DEVICE_RUNTIME(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                      (int* numBlocks, const void* func, int blockSize, size_t dynamicSMemSize, unsigned int flags))

#undef CUPOLA_DEVICE_RUNTIME

extern "C" __device__ inline const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define CUDART_ERROR(name, number, text) \
  case number:                           \
    return #name;
#include "cupola/runtime_errors.def"
#undef CUDART_ERROR
  }
  return "unrecognized error code";
}

extern "C" __device__ inline const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define CUDART_ERROR(name, number, text) \
  case number:                           \
    return text;
#include "cupola/runtime_errors.def"
#undef CUDART_ERROR
  }
  return "unrecognized error code";
}

// The same for a kernel and a pointer of their own types.
template <typename T>
__device__ inline cudaError_t cudaMalloc(T** devPtr, size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(devPtr), size);
}
template <typename T>
__device__ inline cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes* attr, T* entry) {
  return cudaFuncGetAttributes(attr, reinterpret_cast<const void*>(entry));
}
template <typename T>
__device__ inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* numBlocks, T func, int blockSize,
                                                                            size_t dynamicSmemSize) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(numBlocks, reinterpret_cast<const void*>(func), blockSize,
                                                       dynamicSmemSize);
}
template <typename T>
__device__ inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* numBlocks, T func,
                                                                                     int blockSize,
                                                                                     size_t dynamicSmemSize,
                                                                                     unsigned int flags) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(numBlocks, reinterpret_cast<const void*>(func),
                                                                blockSize, dynamicSmemSize, flags);
}

#endif
