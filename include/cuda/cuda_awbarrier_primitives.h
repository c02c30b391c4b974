#pragma once

// Barriers in shared memory that split arriving from waiting: "CUDA C++ Programming Guide, Asynchronous Barriers,
// Memory Barrier Primitives Interface". The object is that of PTX's mbarrier (src/device/asynchrony.cu).

#include "cuda_runtime.h"

#include <stdint.h>

#if defined(__CUDA__) && defined(__cplusplus)

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))

typedef unsigned long long __mbarrier_t;
typedef unsigned long long __mbarrier_token_t;

extern "C" {
__device__ void __cupola_ptx_mbarrier_init(unsigned long long* object, unsigned int count);
__device__ unsigned long long __cupola_ptx_mbarrier_arrive(unsigned long long* object, unsigned int count,
                                                           unsigned int bytes, unsigned int drops,
                                                           unsigned int completes);
__device__ unsigned int __cupola_ptx_mbarrier_test_wait(unsigned long long* object, unsigned long long phase,
                                                        unsigned int parity);
__device__ unsigned int __cupola_ptx_mbarrier_try_wait(unsigned long long* object, unsigned long long phase,
                                                       unsigned int parity);
__device__ unsigned int __cupola_ptx_mbarrier_pending(unsigned long long state);
}

CUPOLA_DEVICE uint32_t __mbarrier_maximum_count() { return (1u << 20) - 1; }
CUPOLA_DEVICE void __mbarrier_init(__mbarrier_t* barrier, uint32_t expected_count) {
  __cupola_ptx_mbarrier_init(barrier, expected_count);
}
/// The memory is free for other use.
CUPOLA_DEVICE void __mbarrier_inval(__mbarrier_t*) {}
CUPOLA_DEVICE __mbarrier_token_t __mbarrier_arrive(__mbarrier_t* barrier) {
  return __cupola_ptx_mbarrier_arrive(barrier, 1, 0, 0, 1);
}
/// The following phases wait for one arrival less.
CUPOLA_DEVICE __mbarrier_token_t __mbarrier_arrive_and_drop(__mbarrier_t* barrier) {
  return __cupola_ptx_mbarrier_arrive(barrier, 1, 0, 1, 1);
}
/// Whether the token's phase is over.
CUPOLA_DEVICE bool __mbarrier_test_wait(__mbarrier_t* barrier, __mbarrier_token_t token) {
  return __cupola_ptx_mbarrier_test_wait(barrier, token, 0) != 0;
}
CUPOLA_DEVICE bool __mbarrier_test_wait_parity(__mbarrier_t* barrier, bool phase_parity) {
  return __cupola_ptx_mbarrier_test_wait(barrier, phase_parity, 1) != 0;
}
/// Whether it is over after others ran; the time is a hint.
CUPOLA_DEVICE bool __mbarrier_try_wait(__mbarrier_t* barrier, __mbarrier_token_t token, uint32_t = 0) {
  return __cupola_ptx_mbarrier_try_wait(barrier, token, 0) != 0;
}
CUPOLA_DEVICE bool __mbarrier_try_wait_parity(__mbarrier_t* barrier, bool phase_parity, uint32_t = 0) {
  return __cupola_ptx_mbarrier_try_wait(barrier, phase_parity, 1) != 0;
}
/// How many arrivals the phase waited for when the token was made.
CUPOLA_DEVICE uint32_t __mbarrier_token_pending_count(__mbarrier_token_t token) {
  return __cupola_ptx_mbarrier_pending(token);
}

#pragma pop_macro("CUPOLA_DEVICE")

#endif
