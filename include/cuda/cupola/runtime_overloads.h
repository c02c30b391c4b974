#pragma once

// The C++ side of the runtime API: overloads that take typed pointers, symbols and kernels and call the C functions of
// the same name. "CUDA Runtime API, C++ API Routines".

#include <stddef.h>

#include "../channel_descriptor.h"
#include "../cuda_runtime_api.h"

#pragma push_macro("CUPOLA_API")
#define CUPOLA_API static __inline__ __host__ __attribute__((unused)) cudaError_t

// -- memory --

template <class T>
CUPOLA_API cudaMalloc(T** pointer, size_t bytes) {
  return ::cudaMalloc((void**)(void*)pointer, bytes);
}
template <class T>
CUPOLA_API cudaMallocHost(T** pointer, size_t bytes, unsigned int flags = 0) {
  return ::cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
CUPOLA_API cudaMallocHost(void** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc(pointer, bytes, flags);
}
template <class T>
CUPOLA_API cudaHostAlloc(T** pointer, size_t bytes, unsigned int flags) {
  return ::cudaHostAlloc((void**)(void*)pointer, bytes, flags);
}
template <class T>
CUPOLA_API cudaHostGetDevicePointer(T** device, void* host, unsigned int flags) {
  return ::cudaHostGetDevicePointer((void**)(void*)device, host, flags);
}
template <class T>
CUPOLA_API cudaMallocManaged(T** pointer, size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged((void**)(void*)pointer, bytes, flags);
}
template <class T, class U>
CUPOLA_API cudaMemcpyBatchAsync(T* const* dsts, U* const* srcs, const size_t* sizes, size_t count,
                                struct cudaMemcpyAttributes* attrs, size_t* attrsIdxs, size_t numAttrs,
                                cudaStream_t stream) {
  return ::cudaMemcpyBatchAsync((const void**)dsts, (const void**)srcs, sizes, count, attrs, attrsIdxs, numAttrs,
                                stream);
}
template <class T, class U>
CUPOLA_API cudaMemcpyBatchAsync(T* const* dsts, U* const* srcs, const size_t* sizes, size_t count,
                                struct cudaMemcpyAttributes attr, cudaStream_t stream) {
  size_t first = 0;
  return ::cudaMemcpyBatchAsync((const void**)dsts, (const void**)srcs, sizes, count, &attr, &first, 1, stream);
}
template <class T>
CUPOLA_API cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch((void**)(void*)pointer, pitch, width, height);
}
template <class T>
CUPOLA_API cudaMallocAsync(T** pointer, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync((void**)(void*)pointer, bytes, stream);
}
template <class T>
CUPOLA_API cudaMallocAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, bytes, pool, stream);
}
CUPOLA_API cudaMallocAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync(pointer, bytes, pool, stream);
}
template <class T>
CUPOLA_API cudaMallocFromPoolAsync(T** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return ::cudaMallocFromPoolAsync((void**)(void*)pointer, bytes, pool, stream);
}
template <class T>
CUPOLA_API cudaStreamAttachMemAsync(cudaStream_t stream, T* pointer, size_t length = 0,
                                    unsigned int flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, (void*)pointer, length, flags);
}

// -- symbols: a __device__ or __constant__ variable by name --

template <class T>
CUPOLA_API cudaMemcpyToSymbol(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                              enum cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return ::cudaMemcpyToSymbol((const void*)&symbol, from, bytes, offset, kind);
}
template <class T>
CUPOLA_API cudaMemcpyToSymbolAsync(const T& symbol, const void* from, size_t bytes, size_t offset = 0,
                                   enum cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
  return ::cudaMemcpyToSymbolAsync((const void*)&symbol, from, bytes, offset, kind, stream);
}
template <class T>
CUPOLA_API cudaMemcpyFromSymbol(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return ::cudaMemcpyFromSymbol(to, (const void*)&symbol, bytes, offset, kind);
}
template <class T>
CUPOLA_API cudaMemcpyFromSymbolAsync(void* to, const T& symbol, size_t bytes, size_t offset = 0,
                                     enum cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
  return ::cudaMemcpyFromSymbolAsync(to, (const void*)&symbol, bytes, offset, kind, stream);
}
template <class T>
CUPOLA_API cudaGetSymbolAddress(void** address, const T& symbol) {
  return ::cudaGetSymbolAddress(address, (const void*)&symbol);
}
template <class T, class U>
CUPOLA_API cudaGetSymbolAddress(T** address, const U& symbol) {
  return ::cudaGetSymbolAddress((void**)(void*)address, (const void*)&symbol);
}
template <class T>
CUPOLA_API cudaGetSymbolSize(size_t* bytes, const T& symbol) {
  return ::cudaGetSymbolSize(bytes, (const void*)&symbol);
}

// -- kernels --

template <class T>
CUPOLA_API cudaFuncGetAttributes(struct cudaFuncAttributes* attributes, T* kernel) {
  return ::cudaFuncGetAttributes(attributes, (const void*)kernel);
}
template <class T>
CUPOLA_API cudaFuncSetAttribute(T* kernel, enum cudaFuncAttribute attribute, int value) {
  return ::cudaFuncSetAttribute((const void*)kernel, attribute, value);
}
template <class T>
CUPOLA_API cudaFuncSetCacheConfig(T* kernel, enum cudaFuncCache config) {
  return ::cudaFuncSetCacheConfig((const void*)kernel, config);
}
template <class T>
CUPOLA_API cudaFuncSetSharedMemConfig(T* kernel, enum cudaSharedMemConfig config) {
  return ::cudaFuncSetSharedMemConfig((const void*)kernel, config);
}
template <class T>
CUPOLA_API cudaFuncGetName(const char** name, T* kernel) {
  return ::cudaFuncGetName(name, (const void*)kernel);
}
template <class T>
CUPOLA_API cudaGetKernel(cudaKernel_t* handle, T* kernel) {
  return ::cudaGetKernel(handle, (const void*)kernel);
}
template <class T>
CUPOLA_API cudaGetFuncBySymbol(cudaFunction_t* handle, T* kernel) {
  return ::cudaGetFuncBySymbol(handle, (const void*)kernel);
}
template <class T>
CUPOLA_API cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                            cudaStream_t stream = 0) {
  return ::cudaLaunchKernel((const void*)kernel, grid, block, arguments, shared_bytes, stream);
}
template <class T>
CUPOLA_API cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                       cudaStream_t stream = 0) {
  return ::cudaLaunchCooperativeKernel((const void*)kernel, grid, block, arguments, shared_bytes, stream);
}
#if __cplusplus >= 201103L
template <typename... Parameters, typename... Arguments>
CUPOLA_API cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                              Arguments&&... arguments) {
  // The named function gives each argument its parameter's type and a place in memory.
  return [&](Parameters... converted) {
    void* places[] = {(void*)&converted..., nullptr};
    return ::cudaLaunchKernelExC(config, (const void*)kernel, places);
  }(static_cast<Arguments&&>(arguments)...);
}
#endif

// -- occupancy --

template <class T>
CUPOLA_API cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block_size, size_t shared_bytes) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void*)kernel, block_size, shared_bytes);
}
template <class T>
CUPOLA_API cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, T kernel, int block_size,
                                                                  size_t shared_bytes, unsigned int flags) {
  return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void*)kernel, block_size, shared_bytes,
                                                                  flags);
}
template <class T>
CUPOLA_API cudaOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, T* kernel, int blocks, int block_size) {
  return ::cudaOccupancyAvailableDynamicSMemPerBlock(bytes, (const void*)kernel, blocks, block_size);
}

/// The block size, up to limit, that keeps most threads of a multiprocessor busy, and the grid that fills the device.
/// shared_bytes(block_size) says how much dynamic shared memory a block of that size takes.
template <typename SharedBytes, class T>
CUPOLA_API cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int* grid_size, int* block_size, T kernel,
                                                                   SharedBytes shared_bytes, int limit = 0,
                                                                   unsigned int flags = 0) {
  if (!grid_size || !block_size || !kernel) return cudaErrorInvalidValue;
  int device = 0, multiprocessors = 0, device_limit = 0;
  cudaError_t error = ::cudaGetDevice(&device);
  if (error != cudaSuccess) return error;
  error = ::cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error != cudaSuccess) return error;
  error = ::cudaDeviceGetAttribute(&device_limit, cudaDevAttrMaxThreadsPerBlock, device);
  if (error != cudaSuccess) return error;
  struct cudaFuncAttributes attributes;
  error = ::cudaFuncGetAttributes(&attributes, (const void*)kernel);
  if (error != cudaSuccess) return error;

  int largest = attributes.maxThreadsPerBlock < device_limit ? attributes.maxThreadsPerBlock : device_limit;
  if (limit > 0 && limit < largest) largest = limit;
  int best_threads = 0, best_size = 0, best_blocks = 0;
  for (int size = (largest + 31) / 32 * 32; size > 0; size -= 32) {
    const int threads = size < largest ? size : largest;
    int blocks = 0;
    error = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void*)kernel, threads,
                                                                     shared_bytes(threads), flags);
    if (error != cudaSuccess) return error;
    if (blocks * threads <= best_threads) continue;
    best_threads = blocks * threads, best_size = threads, best_blocks = blocks;
  }
  *block_size = best_size;
  *grid_size = best_blocks * multiprocessors;
  return cudaSuccess;
}
template <typename SharedBytes, class T>
CUPOLA_API cudaOccupancyMaxPotentialBlockSizeVariableSMem(int* grid_size, int* block_size, T kernel,
                                                          SharedBytes shared_bytes, int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid_size, block_size, kernel, shared_bytes, limit, 0);
}

/// The same amount of dynamic shared memory for every block size.
struct __cupola_constant_shared_bytes {
  size_t bytes;
  __host__ size_t operator()(int) const { return bytes; }
};
template <class T>
CUPOLA_API cudaOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size, T kernel,
                                                       size_t shared_bytes = 0, int limit = 0, unsigned int flags = 0) {
  const __cupola_constant_shared_bytes constant = {shared_bytes};
  return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid_size, block_size, kernel, constant, limit, flags);
}
template <class T>
CUPOLA_API cudaOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, T kernel, size_t shared_bytes = 0,
                                              int limit = 0) {
  return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid_size, block_size, kernel, shared_bytes, limit, 0);
}

// -- events --

CUPOLA_API cudaEventCreate(cudaEvent_t* event, unsigned int flags) { return ::cudaEventCreateWithFlags(event, flags); }

// -- graphs: the signature from before CUDA 12 --

CUPOLA_API cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, cudaGraphNode_t*, char*, size_t) {
  return ::cudaGraphInstantiate(executable, graph, 0);
}
CUPOLA_API cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphNode_t* error_node,
                               cudaGraphExecUpdateResult* result) {
  cudaGraphExecUpdateResultInfo info = {cudaGraphExecUpdateError, 0, 0};
  const cudaError_t status = ::cudaGraphExecUpdate(executable, graph, &info);
  if (error_node) *error_node = info.errorNode;
  if (result) *result = info.result;
  return status;
}

// -- graphs: symbols by reference, objects by pointer --

template <class T>
CUPOLA_API cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          size_t dependency_count, const T& symbol, const void* src, size_t count,
                                          size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, dependencies, dependency_count, (const void*)&symbol, src, count,
                                          offset, kind);
}
template <class T>
CUPOLA_API cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                            const cudaGraphNode_t* dependencies, size_t dependency_count, void* dst,
                                            const T& symbol, size_t count, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, dependencies, dependency_count, dst, (const void*)&symbol,
                                            count, offset, kind);
}
template <class T>
CUPOLA_API cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const T& symbol, const void* src, size_t count,
                                                size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsToSymbol(node, (const void*)&symbol, src, count, offset, kind);
}
template <class T>
CUPOLA_API cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void* dst, const T& symbol, size_t count,
                                                  size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphMemcpyNodeSetParamsFromSymbol(node, dst, (const void*)&symbol, count, offset, kind);
}
template <class T>
CUPOLA_API cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, const T& symbol,
                                                    const void* src, size_t count, size_t offset, cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsToSymbol(executable, node, (const void*)&symbol, src, count, offset, kind);
}
template <class T>
CUPOLA_API cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable, cudaGraphNode_t node, void* dst,
                                                      const T& symbol, size_t count, size_t offset,
                                                      cudaMemcpyKind kind) {
  return ::cudaGraphExecMemcpyNodeSetParamsFromSymbol(executable, node, dst, (const void*)&symbol, count, offset, kind);
}
template <class T>
CUPOLA_API cudaUserObjectCreate(cudaUserObject_t* object, T* wrapped, unsigned int references, unsigned int flags) {
  return ::cudaUserObjectCreate(
      object, wrapped, [](void* pointer) { delete static_cast<T*>(pointer); }, references, flags);
}

// -- names from before CUDA 4, when a context was a thread's --

CUPOLA_API cudaThreadSynchronize() { return ::cudaDeviceSynchronize(); }
CUPOLA_API cudaThreadExit() { return ::cudaDeviceReset(); }

// -- channel formats: the descriptor of a texel type --

template <class T>
static __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc() {
  return ::cudaCreateChannelDesc(0, 0, 0, 0, cudaChannelFormatKindNone);
}
#define CUPOLA_CHANNEL(type, components, bits, kind)                                           \
  template <>                                                                                  \
  __inline__ __host__ cudaChannelFormatDesc cudaCreateChannelDesc<type>() {                    \
    return ::cudaCreateChannelDesc(bits, components > 1 ? bits : 0, components > 2 ? bits : 0, \
                                   components > 3 ? bits : 0, cudaChannelFormatKind##kind);    \
  }
#define CUPOLA_CHANNELS(name, type, bits, kind) \
  CUPOLA_CHANNEL(type, 1, bits, kind)           \
  CUPOLA_CHANNEL(name##1, 1, bits, kind)        \
  CUPOLA_CHANNEL(name##2, 2, bits, kind)        \
  CUPOLA_CHANNEL(name##4, 4, bits, kind)
CUPOLA_CHANNEL(char, 1, 8, Signed)
CUPOLA_CHANNELS(char, signed char, 8, Signed)
CUPOLA_CHANNELS(uchar, unsigned char, 8, Unsigned)
CUPOLA_CHANNELS(short, short, 16, Signed)
CUPOLA_CHANNELS(ushort, unsigned short, 16, Unsigned)
CUPOLA_CHANNELS(int, int, 32, Signed)
CUPOLA_CHANNELS(uint, unsigned int, 32, Unsigned)
CUPOLA_CHANNELS(float, float, 32, Float)
#undef CUPOLA_CHANNELS
#undef CUPOLA_CHANNEL

#pragma pop_macro("CUPOLA_API")
