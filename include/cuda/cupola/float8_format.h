#pragma once

// Part of cuda_fp8.h: the formats. "CUDA Math API, FP8 Intrinsics"; OCP "8-bit Floating Point Specification" (E5M2,
// E4M3) and "Microscaling Formats" (E8M0).
//
//   E5M2   as half with 8 bits less: infinities, largest number 57344
//   E4M3   bias 7, no infinities, one NaN (of either sign), largest number 448
//   E8M0   powers of two from 2^-127 to 2^127 without sign, 0xff is NaN
//
// Everything rounds once: what fits no float is first rounded to odd (half_format.h).

#include "half_format.h"

#pragma push_macro("CUPOLA_BOTH")
#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))

namespace cupola {
namespace float8 {

/// To nearest even. NaN gives 0x7f. Beyond the largest number: that number if it saturates, else infinity or NaN.
CUPOLA_BOTH unsigned char from_float(float x, bool saturates, bool is_e5m2) {
  const unsigned int sign = halves::bits(x) >> 24 & 0x80u, magnitude = halves::bits(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 0x7f;
  const unsigned int most = is_e5m2 ? 0x7b : 0x7e;
  unsigned int rounded = halves::round_magnitude(magnitude, is_e5m2 ? 21 : 20, is_e5m2 ? 112 : 120);
  if (rounded > most) rounded = saturates ? most : most + 1;
  return (unsigned char)(sign | rounded);
}

/// The bits of the half with the same value; of NaN 0x7fff.
CUPOLA_BOTH unsigned short to_half(unsigned char x, bool is_e5m2) {
  const unsigned int sign = (x & 0x80u) << 8, magnitude = x & 0x7fu;
  if (magnitude > (is_e5m2 ? 0x7cu : 0x7eu)) return 0x7fff;
  if (is_e5m2) return (unsigned short)(x << 8);
  if (magnitude < 8) return (unsigned short)(sign | halves::narrow<10>((float)magnitude * 0.001953125f));  // 2^-9
  return (unsigned short)(sign | ((magnitude << 7) + (8u << 10)));
}

/// The power of two next to the magnitude, upwards or downwards. Beyond the largest: that one if it saturates, else
/// NaN.
CUPOLA_BOTH unsigned char power_from_float(float x, bool saturates, bool upwards) {
  const unsigned int magnitude = halves::bits(x) & 0x7fffffffu, fraction = magnitude & 0x7fffffu;
  if (magnitude > 0x7f800000u) return 0xff;
  unsigned int exponent = magnitude >> 23;
  // Below 2^-126 the format has one number, which is half of that.
  if (upwards && exponent < 255 && fraction > (exponent ? 0u : 0x400000u)) ++exponent;
  return (unsigned char)(exponent == 255 && saturates ? 254 : exponent);
}
CUPOLA_BOTH float power_to_float(unsigned char x) {
  return halves::from_bits(x == 0xff ? 0x7fffffffu : x == 0 ? 0x400000u : (unsigned int)x << 23);
}

}  // namespace float8
}  // namespace cupola

#pragma pop_macro("CUPOLA_BOTH")
