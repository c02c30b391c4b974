// Part of cuda_fp8.h: conversions of the storage types.

#pragma push_macro("CUPOLA_BOTH")
#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))

// The lower byte is the first number.
#define CUPOLA_PAIR_OF(low, high) (__nv_fp8x2_storage_t)((low) | (high) << 8)

CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                     __nv_fp8_interpretation_t fp8_interpretation) {
  return cupola::float8::from_float(x, saturate == __NV_SATFINITE, fp8_interpretation == __NV_E5M2);
}
CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                      __nv_fp8_interpretation_t fp8_interpretation) {
  return __nv_cvt_float_to_fp8(cupola::halves::to_odd(x), saturate, fp8_interpretation);
}
CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                       __nv_fp8_interpretation_t fp8_interpretation) {
  return __nv_cvt_float_to_fp8(cupola::halves::widen<10>(x.x), saturate, fp8_interpretation);
}
CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t fp8_interpretation) {
  return __nv_cvt_float_to_fp8(cupola::halves::widen<7>(x.x), saturate, fp8_interpretation);
}
#define CUPOLA_PAIR(name, type, single, first, second)                                                                \
  CUPOLA_BOTH __nv_fp8x2_storage_t name(type x, __nv_saturation_t saturate,                                           \
                                        __nv_fp8_interpretation_t fp8_interpretation) {                               \
    return CUPOLA_PAIR_OF(single(first, saturate, fp8_interpretation), single(second, saturate, fp8_interpretation)); \
  }
CUPOLA_PAIR(__nv_cvt_float2_to_fp8x2, float2, __nv_cvt_float_to_fp8, x.x, x.y)
CUPOLA_PAIR(__nv_cvt_double2_to_fp8x2, double2, __nv_cvt_double_to_fp8, x.x, x.y)
CUPOLA_PAIR(__nv_cvt_halfraw2_to_fp8x2, __half2_raw, __nv_cvt_halfraw_to_fp8, (__half_raw{x.x}), (__half_raw{x.y}))
CUPOLA_PAIR(__nv_cvt_bfloat16raw2_to_fp8x2, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_fp8, (__nv_bfloat16_raw{x.x}),
            (__nv_bfloat16_raw{x.y}))
#undef CUPOLA_PAIR

CUPOLA_BOTH __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x, __nv_fp8_interpretation_t fp8_interpretation) {
  return __half_raw{cupola::float8::to_half(x, fp8_interpretation == __NV_E5M2)};
}
CUPOLA_BOTH __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                   __nv_fp8_interpretation_t fp8_interpretation) {
  return __half2_raw{__nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, fp8_interpretation).x,
                     __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), fp8_interpretation).x};
}

// -- powers of two: the sign is ignored; rounding is cudaRoundZero or cudaRoundPosInf --

CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_float_to_e8m0(float x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return cupola::float8::power_from_float(x, saturate == __NV_SATFINITE, rounding == cudaRoundPosInf);
}
CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_double_to_e8m0(double x, __nv_saturation_t saturate, cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(cupola::halves::to_odd(x), saturate, rounding);
}
CUPOLA_BOTH __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(__nv_bfloat16_raw x, __nv_saturation_t saturate,
                                                            cudaRoundMode rounding) {
  return __nv_cvt_float_to_e8m0(cupola::halves::widen<7>(x.x), saturate, rounding);
}
#define CUPOLA_PAIR(name, type, single, first, second)                                                \
  CUPOLA_BOTH __nv_fp8x2_storage_t name(type x, __nv_saturation_t saturate, cudaRoundMode rounding) { \
    return CUPOLA_PAIR_OF(single(first, saturate, rounding), single(second, saturate, rounding));     \
  }
CUPOLA_PAIR(__nv_cvt_float2_to_e8m0x2, float2, __nv_cvt_float_to_e8m0, x.x, x.y)
CUPOLA_PAIR(__nv_cvt_double2_to_e8m0x2, double2, __nv_cvt_double_to_e8m0, x.x, x.y)
CUPOLA_PAIR(__nv_cvt_bfloat162raw_to_e8m0x2, __nv_bfloat162_raw, __nv_cvt_bfloat16raw_to_e8m0, (__nv_bfloat16_raw{x.x}),
            (__nv_bfloat16_raw{x.y}))
#undef CUPOLA_PAIR
CUPOLA_BOTH __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(__nv_fp8_storage_t x) {
  return __nv_bfloat16_raw{cupola::halves::narrow<7>(cupola::float8::power_to_float(x))};
}
CUPOLA_BOTH __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(__nv_fp8x2_storage_t x) {
  return __nv_bfloat162_raw{__nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x,
                            __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x};
}

#undef CUPOLA_PAIR_OF
#pragma pop_macro("CUPOLA_BOTH")
