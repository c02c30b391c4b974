#pragma once

// The two 16-bit floating-point formats, for cuda_fp16.h and cuda_bf16.h: a sign, 15 - kFraction bits of exponent,
// kFraction bits of fraction (10: half, 7: bfloat16). Integer arithmetic converts, since runtime libraries of the host
// may lack the conversions, and some processors' instructions for bfloat16 flush subnormal numbers. Only device code's
// half is the compiler's.
//
// Everything rounds once. A result that fits no float exactly is first rounded to odd (truncated, and its last bit set
// if that lost anything): float has so many more bits that the second rounding, in whatever direction, comes out as if
// it had seen the exact value (Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums", IEEE Trans.
// Computers 57(4), 2008). For + - * / and square roots float is wide enough to round to nearest twice (Figueroa, "When
// is double rounding innocuous?", SIGNUM Newsletter 30(3), 1995).

#include "../host_defines.h"

#pragma push_macro("CUPOLA_BOTH")
#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))

namespace cupola {
namespace halves {

enum class Rounding { Nearest, Zero, Up, Down };

CUPOLA_BOTH unsigned int bits(float x) { return __builtin_bit_cast(unsigned int, x); }
CUPOLA_BOTH float from_bits(unsigned int x) { return __builtin_bit_cast(float, x); }

template <int kFraction>
struct Format {
  static constexpr int kDropped = 23 - kFraction;                        ///< bits of a float's fraction that do not fit
  static constexpr unsigned int kBias = 128 - (1u << (14 - kFraction));  ///< what a float's exponent has more
  static constexpr unsigned int kInfinity = 0x7fff >> kFraction << kFraction;
};

/// value / 2^shift to nearest even. 1 <= shift <= 31, value below 2^31.
CUPOLA_BOTH unsigned int shift_and_round(unsigned int value, unsigned int shift) {
  return (value + ((1u << (shift - 1)) - 1) + (value >> shift & 1)) >> shift;
}

/// A float's magnitude in a format with `dropped` bits of fraction less and exponents less by `bias`, to nearest even.
/// It may come out beyond the format's largest number.
CUPOLA_BOTH unsigned int round_magnitude(unsigned int magnitude, unsigned int dropped, unsigned int bias) {
  const unsigned int exponent = magnitude >> 23;
  if (!bias || exponent > bias) return shift_and_round(magnitude - (bias << 23), dropped);
  const unsigned int shift = dropped + bias + (exponent ? 1 - exponent : 0);
  return shift_and_round((magnitude & 0x7fffffu) | (exponent ? 0x800000u : 0), shift < 31 ? shift : 31);
}

template <int kFraction>
CUPOLA_BOTH float widen(unsigned short x) {
  using F = Format<kFraction>;
  const unsigned int sign = (x & 0x8000u) << 16, magnitude = x & 0x7fffu;
  if (magnitude >= F::kInfinity) return from_bits(sign | 0x7f800000u | magnitude << F::kDropped);
  if (F::kBias && magnitude < (1u << kFraction))  // units of 2^-24: bfloat16's subnormals are a float's
    return from_bits(sign | bits((float)magnitude * 5.9604644775390625e-8f));
  return from_bits(sign | ((magnitude << F::kDropped) + (F::kBias << 23)));
}

/// To nearest even.
template <int kFraction>
CUPOLA_BOTH unsigned short narrow(float x) {
  using F = Format<kFraction>;
  const unsigned int sign = bits(x) >> 16 & 0x8000u, magnitude = bits(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7fff;
  const unsigned int rounded = round_magnitude(magnitude, F::kDropped, F::kBias);
  return (unsigned short)(sign | (rounded < F::kInfinity ? rounded : F::kInfinity));
}
#if defined(__CUDA_ARCH__)
template <>
__host__ __device__ __inline__ __attribute__((always_inline)) float widen<10>(unsigned short x) {
  return (float)__builtin_bit_cast(_Float16, x);
}
template <>
__host__ __device__ __inline__ __attribute__((always_inline)) unsigned short narrow<10>(float x) {
  return __builtin_bit_cast(unsigned short, (_Float16)x);
}
#endif

/// In a given direction, past the largest number too.
template <int kFraction>
CUPOLA_BOTH unsigned short narrow(float x, Rounding rounding) {
  const unsigned short nearest = narrow<kFraction>(x);
  const float back = __builtin_fabsf(widen<kFraction>(nearest)), exact = __builtin_fabsf(x);
  const bool negative = bits(x) >> 31;
  const bool outwards = rounding == (negative ? Rounding::Down : Rounding::Up);
  if (rounding == Rounding::Nearest) return nearest;
  if (outwards) return (unsigned short)(nearest + (back < exact));
  return (unsigned short)(nearest - (back > exact));
}

// -- to odd --

CUPOLA_BOTH float to_odd(float x) { return x; }
CUPOLA_BOTH float to_odd(double x) {
  const float nearest = (float)x;
  if (nearest == x || x != x) return nearest;
  const bool outwards = __builtin_fabs((double)nearest) > __builtin_fabs(x);
  return from_bits((bits(nearest) - outwards) | 1);
}
/// Any integer.
template <typename Integer>
CUPOLA_BOTH float to_odd(Integer x) {
  const bool negative = x < 0;
  unsigned long long magnitude = negative ? 0 - (unsigned long long)x : (unsigned long long)x;
  double scale = 1;
  if (magnitude >> 53) magnitude = magnitude >> 20 | ((magnitude & 0xfffff) != 0), scale = 1 << 20;
  return to_odd((negative ? -(double)magnitude : (double)magnitude) * scale);
}
/// a * b + c for numbers of a 16-bit format, whose product a double holds.
CUPOLA_BOTH float multiply_add(float a, float b, float c) {
  const double product = (double)a * b, addend = c, sum = product + addend, part = sum - product;
  const double rest = (product - (sum - part)) + (addend - part);
  const unsigned long long word = __builtin_bit_cast(unsigned long long, sum);
  if (!(rest < 0 || rest > 0) || (word & 1)) return to_odd(sum);
  return to_odd(__builtin_bit_cast(double, (rest > 0) == (sum > 0) ? word + 1 : word - 1));
}

// -- to integers --

/// To an integer type: beyond its range its limit; NaN gives 0, as 64 bits 2^63 ("CUDA Math API, __half2ll_rn").
template <typename Integer>
CUPOLA_BOTH Integer to_integer(float x, Rounding rounding) {
  constexpr int kBits = 8 * sizeof(Integer);
  constexpr bool kSigned = (Integer)-1 < 0;
  constexpr Integer kMost = (Integer)(~0ull >> (64 - kBits + kSigned)), kLeast = kSigned ? (Integer)(-kMost - 1) : 0;
  if (x != x) return kBits == 64 ? (Integer)(1ull << 63) : 0;
  const float whole = rounding == Rounding::Nearest ? __builtin_rintf(x)
                      : rounding == Rounding::Up    ? __builtin_ceilf(x)
                      : rounding == Rounding::Down  ? __builtin_floorf(x)
                                                    : __builtin_truncf(x);
  if (whole >= (float)kMost) return kMost;
  if (whole <= (float)kLeast) return kLeast;
  return (Integer)whole;
}

}  // namespace halves
}  // namespace cupola

#pragma pop_macro("CUPOLA_BOTH")
