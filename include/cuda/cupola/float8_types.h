// Part of cuda_fp8.h: the types, and their pairs and quadruples.

#include "small_types.h"

#pragma push_macro("CUPOLA_MEMBER")
#define CUPOLA_MEMBER __host__ __device__ __inline__ __attribute__((always_inline))

namespace cupola {
namespace float8 {

/// How a type is made of numbers, and what number it is.
struct E4M3 {
  static CUPOLA_MEMBER unsigned char encode(float x) { return from_float(x, true, false); }
  static CUPOLA_MEMBER float decode(unsigned char x) { return halves::widen<10>(to_half(x, false)); }
};
struct E5M2 {
  static CUPOLA_MEMBER unsigned char encode(float x) { return from_float(x, true, true); }
  static CUPOLA_MEMBER float decode(unsigned char x) { return halves::widen<10>(to_half(x, true)); }
};
struct E8M0 {
  static CUPOLA_MEMBER unsigned char encode(float x) { return power_from_float(x, true, true); }
  static CUPOLA_MEMBER float decode(unsigned char x) { return power_to_float(x); }
};

}  // namespace float8
}  // namespace cupola

CUPOLA_SMALL_TYPES(__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3, cupola::float8::E4M3, __nv_fp8_storage_t,
                   __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, __half2, __float22half2_rn)
CUPOLA_SMALL_TYPES(__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2, cupola::float8::E5M2, __nv_fp8_storage_t,
                   __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, __half2, __float22half2_rn)
CUPOLA_SMALL_TYPES(__nv_fp8_e8m0, __nv_fp8x2_e8m0, __nv_fp8x4_e8m0, cupola::float8::E8M0, __nv_fp8_storage_t,
                   __nv_fp8x2_storage_t, __nv_fp8x4_storage_t, 8, __nv_bfloat162, __float22bfloat162_rn)

#pragma pop_macro("CUPOLA_MEMBER")
