#pragma once
#define __CUDA_FP6_H__

// 6-bit floating point: "CUDA Math API, FP6 Intrinsics". Serves host files of any compiler too.

#include "cuda_runtime.h"

#if defined(__cplusplus)
#include "cuda_fp8.h"
#include "cupola/small_floats.h"

#pragma push_macro("CUPOLA_MEMBER")
#define CUPOLA_MEMBER __host__ __device__ __inline__ __attribute__((always_inline, unused))

typedef unsigned char __nv_fp6_storage_t;
typedef unsigned short int __nv_fp6x2_storage_t;
typedef unsigned int __nv_fp6x4_storage_t;
typedef enum __nv_fp6_interpretation_t { __NV_E2M3, __NV_E3M2 } __nv_fp6_interpretation_t;
#define __CUDA_FP6_TYPES_EXIST__

namespace cupola {
namespace small_floats {
static CUPOLA_MEMBER unsigned int encode_fp6(float x, __nv_fp6_interpretation_t format, cudaRoundMode rounding) {
  return format == __NV_E2M3 ? E2M3::encode(x, rounding) : E3M2::encode(x, rounding);
}
static CUPOLA_MEMBER float decode_fp6(unsigned int x, __nv_fp6_interpretation_t format) {
  return format == __NV_E2M3 ? E2M3::decode(x) : E3M2::decode(x);
}
}  // namespace small_floats
}  // namespace cupola

CUPOLA_SMALL_CONVERSIONS(fp6, cupola::small_floats::encode_fp6, cupola::small_floats::decode_fp6,
                         __nv_fp6_interpretation_t, 8)
CUPOLA_SMALL_TYPES(__nv_fp6_e2m3, __nv_fp6x2_e2m3, __nv_fp6x4_e2m3, cupola::small_floats::E2M3, __nv_fp6_storage_t,
                   __nv_fp6x2_storage_t, __nv_fp6x4_storage_t, 8, __half2, __float22half2_rn)
CUPOLA_SMALL_TYPES(__nv_fp6_e3m2, __nv_fp6x2_e3m2, __nv_fp6x4_e3m2, cupola::small_floats::E3M2, __nv_fp6_storage_t,
                   __nv_fp6x2_storage_t, __nv_fp6x4_storage_t, 8, __half2, __float22half2_rn)

#pragma pop_macro("CUPOLA_MEMBER")
#endif
