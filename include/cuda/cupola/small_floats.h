#pragma once

// Part of cuda_fp6.h and cuda_fp4.h: formats without infinities and NaN, which saturate ("CUDA Math API, FP6
// Intrinsics" and "FP4 Intrinsics"; OCP "Microscaling Formats"). NaN gives the largest number, as in PTX's cvt.
//
//   E2M3   bias 1, largest number 7.5
//   E3M2   bias 3, largest number 28
//   E2M1   bias 1, largest number 6

#include "../cuda_bf16.h"
#include "../cuda_fp16.h"
#include "../device_types.h"
#include "half_format.h"
#include "small_types.h"

#pragma push_macro("CUPOLA_MEMBER")
#define CUPOLA_MEMBER __host__ __device__ __inline__ __attribute__((always_inline))

namespace cupola {
namespace small_floats {

template <int kExponent, int kFraction>
struct Format {
  static constexpr int kBits = 1 + kExponent + kFraction;
  static constexpr unsigned int kSign = 1u << (kBits - 1), kMost = kSign - 1;
  /// What a float's exponent has more.
  static constexpr unsigned int kBias = 128 - (1u << (kExponent - 1));

  static CUPOLA_MEMBER float decode(unsigned int x) {
    const unsigned int magnitude = x & kMost, sign = (x & kSign) << (32 - kBits);
    if (magnitude >> kFraction) return halves::from_bits(sign | ((magnitude << (23 - kFraction)) + (kBias << 23)));
    // Units of the smallest number.
    const float unit = halves::from_bits((kBias + 1 - kFraction) << 23);
    return halves::from_bits(sign | halves::bits((float)magnitude * unit));
  }
  static CUPOLA_MEMBER unsigned int encode(float x, cudaRoundMode rounding = cudaRoundNearest) {
    const unsigned int magnitude = halves::bits(x) & 0x7fffffffu;
    if (magnitude > 0x7f800000u) return kMost;
    const bool negative = halves::bits(x) >> 31;
    unsigned int nearest = halves::round_magnitude(magnitude, 23 - kFraction, kBias);
    if (nearest > kMost) nearest = kMost;
    const float back = decode(nearest), exact = halves::from_bits(magnitude);
    if (rounding == (negative ? cudaRoundMinInf : cudaRoundPosInf))
      nearest += back < exact && nearest < kMost;
    else if (rounding != cudaRoundNearest)
      nearest -= back > exact;
    return nearest | (negative ? kSign : 0);
  }
};
typedef Format<2, 3> E2M3;
typedef Format<3, 2> E3M2;
typedef Format<2, 1> E2M1;

}  // namespace small_floats
}  // namespace cupola

/// The conversions of a storage type: NAME is fp6 or fp4, PAIR_SHIFT the bits from one number of a pair to the other.
#define CUPOLA_SMALL_CONVERSIONS(NAME, encode, decode, interpretation_t, PAIR_SHIFT)                                 \
  static CUPOLA_MEMBER __nv_##NAME##_storage_t __nv_cvt_float_to_##NAME(float x, interpretation_t format,            \
                                                                        cudaRoundMode rounding) {                    \
    return (__nv_##NAME##_storage_t)encode(x, format, rounding);                                                     \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##_storage_t __nv_cvt_double_to_##NAME(double x, interpretation_t format,          \
                                                                         cudaRoundMode rounding) {                   \
    return __nv_cvt_float_to_##NAME(cupola::halves::to_odd(x), format, rounding);                                    \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##_storage_t __nv_cvt_halfraw_to_##NAME(__half_raw x, interpretation_t format,     \
                                                                          cudaRoundMode rounding) {                  \
    return __nv_cvt_float_to_##NAME(cupola::halves::widen<10>(x.x), format, rounding);                               \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##_storage_t __nv_cvt_bfloat16raw_to_##NAME(                                       \
      __nv_bfloat16_raw x, interpretation_t format, cudaRoundMode rounding) {                                        \
    return __nv_cvt_float_to_##NAME(cupola::halves::widen<7>(x.x), format, rounding);                                \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##x2_storage_t __nv_cvt_float2_to_##NAME##x2(float2 x, interpretation_t format,    \
                                                                               cudaRoundMode rounding) {             \
    return (__nv_##NAME##x2_storage_t)(encode(x.x, format, rounding) | encode(x.y, format, rounding) << PAIR_SHIFT); \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##x2_storage_t __nv_cvt_double2_to_##NAME##x2(double2 x, interpretation_t format,  \
                                                                                cudaRoundMode rounding) {            \
    return __nv_cvt_float2_to_##NAME##x2({cupola::halves::to_odd(x.x), cupola::halves::to_odd(x.y)}, format,         \
                                         rounding);                                                                  \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##x2_storage_t __nv_cvt_halfraw2_to_##NAME##x2(                                    \
      __half2_raw x, interpretation_t format, cudaRoundMode rounding) {                                              \
    return __nv_cvt_float2_to_##NAME##x2({cupola::halves::widen<10>(x.x), cupola::halves::widen<10>(x.y)}, format,   \
                                         rounding);                                                                  \
  }                                                                                                                  \
  static CUPOLA_MEMBER __nv_##NAME##x2_storage_t __nv_cvt_bfloat16raw2_to_##NAME##x2(                                \
      __nv_bfloat162_raw x, interpretation_t format, cudaRoundMode rounding) {                                       \
    return __nv_cvt_float2_to_##NAME##x2({cupola::halves::widen<7>(x.x), cupola::halves::widen<7>(x.y)}, format,     \
                                         rounding);                                                                  \
  }                                                                                                                  \
  static CUPOLA_MEMBER __half_raw __nv_cvt_##NAME##_to_halfraw(__nv_##NAME##_storage_t x, interpretation_t format) { \
    return __half_raw{cupola::halves::narrow<10>(decode(x, format))};                                                \
  }                                                                                                                  \
  static CUPOLA_MEMBER __half2_raw __nv_cvt_##NAME##x2_to_halfraw2(__nv_##NAME##x2_storage_t x,                      \
                                                                   interpretation_t format) {                        \
    return __half2_raw{cupola::halves::narrow<10>(decode(x, format)),                                                \
                       cupola::halves::narrow<10>(decode(x >> PAIR_SHIFT, format))};                                 \
  }

#pragma pop_macro("CUPOLA_MEMBER")
