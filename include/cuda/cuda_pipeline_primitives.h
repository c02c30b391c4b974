#pragma once

// Copies to shared memory that are waited for later: "CUDA C++ Programming Guide, Asynchronous Data Copies, Pipeline
// Primitives Interface". A copy is done at once, which every later wait allows.

#include "cuda_awbarrier_primitives.h"

#include <stddef.h>

#if defined(__CUDA__) && defined(__cplusplus)

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

extern "C" __device__ void __cupola_ptx_copy_async(void* to, const void* from, unsigned int bytes, unsigned int given);

/// Copies 4, 8 or 16 bytes, of which the last `zfill` are zero and not read. Both addresses are multiples of the size.
CUPOLA_DEVICE void __pipeline_memcpy_async(void* __restrict__ dst_shared, const void* __restrict__ src_global,
                                           size_t size_and_align, size_t zfill = 0) {
  __cupola_ptx_copy_async(dst_shared, src_global, (unsigned int)size_and_align, (unsigned int)(size_and_align - zfill));
}
CUPOLA_DEVICE void __pipeline_commit() {}
CUPOLA_DEVICE void __pipeline_wait_prior(size_t) {}
/// The phase waits for this thread's copies: they are done.
CUPOLA_DEVICE void __pipeline_arrive_on(__mbarrier_t*) {}

#pragma pop_macro("CUPOLA_DEVICE")

#endif
