#pragma once

// Launching, and what device code asks of the system: printf, assert, malloc, time, sleep and traps.

#include <stddef.h>

#include "../vector_types.h"

struct CUstream_st;

// clang calls this for kernel<<<grid, block, shared, stream>>>(...).
extern "C" unsigned int __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0,
                                                    struct CUstream_st* stream = 0);

extern "C" {
__device__ int vprintf(const char* format, const char* arguments);
__device__ int printf(const char* format, ...);
__device__ void* malloc(size_t bytes) __attribute__((nothrow)) __attribute__((malloc));
__device__ void free(void* pointer) __attribute__((nothrow));
__device__ void __assertfail(const char* message, const char* file, unsigned int line, const char* function,
                             size_t char_size);
__device__ static inline void __assert_fail(const char* message, const char* file, unsigned int line,
                                            const char* function) {
  __assertfail(message, file, line, function, sizeof(char));
}
__device__ static inline __attribute__((noreturn)) void abort() { __builtin_trap(); }
}

namespace std {
__device__ static inline void* malloc(size_t bytes) { return ::malloc(bytes); }
__device__ static inline void free(void* pointer) { ::free(pointer); }
}  // namespace std

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline))

CUPOLA_DEVICE void* memmove(void* to, const void* from, size_t bytes) { return __builtin_memmove(to, from, bytes); }
CUPOLA_DEVICE int memcmp(const void* a, const void* b, size_t bytes) {
  const unsigned char* left = static_cast<const unsigned char*>(a);
  const unsigned char* right = static_cast<const unsigned char*>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (left[i] != right[i]) return left[i] < right[i] ? -1 : 1;
  return 0;
}

// A breakpoint without a debugger ends the kernel, as a trap does.
CUPOLA_DEVICE void __brkpt(int = 0) { __builtin_trap(); }
#define __prof_trigger(counter) ((void)(counter))

CUPOLA_DEVICE void __nanosleep(unsigned int nanoseconds) { __nvvm_nanosleep(nanoseconds); }
CUPOLA_DEVICE unsigned long long __globaltimer() { return __nvvm_read_ptx_sreg_globaltimer(); }

#pragma pop_macro("CUPOLA_DEVICE")

__device__ inline __cuda_builtin_threadIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_threadIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockIdx_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockIdx_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_blockDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_blockDim_t::operator uint3() const { return {x, y, z}; }
__device__ inline __cuda_builtin_gridDim_t::operator dim3() const { return dim3(x, y, z); }
__device__ inline __cuda_builtin_gridDim_t::operator uint3() const { return {x, y, z}; }
