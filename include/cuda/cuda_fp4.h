#pragma once
#define __CUDA_FP4_H__

// 4-bit floating point: "CUDA Math API, FP4 Intrinsics". Serves host files of any compiler too.

#include "cuda_runtime.h"

#if defined(__cplusplus)
#include "cuda_fp6.h"
#include "cupola/small_floats.h"

#pragma push_macro("CUPOLA_MEMBER")
#define CUPOLA_MEMBER __host__ __device__ __inline__ __attribute__((always_inline, unused))

typedef unsigned char __nv_fp4_storage_t;
typedef unsigned char __nv_fp4x2_storage_t;
typedef unsigned short int __nv_fp4x4_storage_t;
typedef enum __nv_fp4_interpretation_t { __NV_E2M1 } __nv_fp4_interpretation_t;
#define __CUDA_FP4_TYPES_EXIST__

namespace cupola {
namespace small_floats {
static CUPOLA_MEMBER unsigned int encode_fp4(float x, __nv_fp4_interpretation_t, cudaRoundMode rounding) {
  return E2M1::encode(x, rounding);
}
static CUPOLA_MEMBER float decode_fp4(unsigned int x, __nv_fp4_interpretation_t) { return E2M1::decode(x); }
}  // namespace small_floats
}  // namespace cupola

CUPOLA_SMALL_CONVERSIONS(fp4, cupola::small_floats::encode_fp4, cupola::small_floats::decode_fp4,
                         __nv_fp4_interpretation_t, 4)
CUPOLA_SMALL_TYPES(__nv_fp4_e2m1, __nv_fp4x2_e2m1, __nv_fp4x4_e2m1, cupola::small_floats::E2M1, __nv_fp4_storage_t,
                   __nv_fp4x2_storage_t, __nv_fp4x4_storage_t, 4, __half2, __float22half2_rn)

#pragma pop_macro("CUPOLA_MEMBER")
#endif
