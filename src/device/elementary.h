#pragma once

#include "device.h"

// What the elementary functions of float share. All is straight-line code with selects instead of branches, which
// becomes SIMD code when the caller runs a warp in step; what is rare and long stands behind one branch, in a function
// of its own, which is left out when no thread of the warp needs it.
//
// Method, here and in the files that include this: the argument is reduced by a multiple of a constant held in two or
// three parts, exactly so with fma (Cody and Waite, "Software Manual for the Elementary Functions", 1980), and what is
// left goes into a polynomial. The polynomials are our own: Remez's exchange in 60 digits, weighted for the relative
// error of the result; coefficients are rounded one after the other from the lowest power up, the others fitted anew
// each time. "2^-28" at a polynomial is the largest relative error of the result that it makes before rounding.
//
// At each function stands its error against the exact value in units in the last place, the worst that is known: of all
// 2^32 arguments of expf, exp2f, logf and log2f; of every 16th of the other functions of one float, every 257th of
// sinpif, cospif and normcdff, every 4093rd of rcbrtf; of those that elementary_test.cpp takes of the rest.

namespace cupola::device {

inline constexpr float kInfinityF = __builtin_inff();
inline constexpr float kNanF = __builtin_nanf("");

LOCAL float fused(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}
LOCAL double fused(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}

/// first + x second + x^2 third + ... by Horner's rule.
template <typename Float>
LOCAL Float polynomial(Float, Float last) {
  return last;
}
template <typename Float, typename... Floats>
LOCAL Float polynomial(Float x, Float first, Floats... rest) {
  return fused(polynomial(x, rest...), x, first);
}

/// x between two bounds; NaN stays.
template <typename Float>
LOCAL Float within(Float x, Float low, Float high) {
  const Float above = x < low ? low : x;
  return above > high ? high : above;
}

// -- exponentials --

/// Added to a number of at most 2^21, leaves it rounded to a whole number n, with n + 254 in the low bits.
inline constexpr float kToWhole = 0x1.8p23f + 254;
inline constexpr double kToWholeD = 0x1.8p52 + 254;

/// value * 2^n, rounded once, where value is about 1 and the low bits of `whole` are those of kToWhole + n;
/// |n| <= 252. Two factors, because 2^n may be out of range.
LOCAL float times_power(float value, unsigned int whole) {
  const unsigned int half = whole >> 1;
  return value * from_bits(half << 23) * from_bits((whole - half) << 23);
}

/// e to the x as value * 2^n, n in the low bits of whole.
struct Exponential {
  float value;
  unsigned int whole;
};
LOCAL Exponential exponential(float x) {
  const float shifted = fused(x, 0x1.715476p+0f, kToWhole), whole = shifted - kToWhole;
  float rest = fused(whole, -0x1.62e43p-1f, x);
  rest = fused(whole, 0x1.05c61p-29f, rest);
  return {polynomial(rest, 1.0f, 1.0f, 0x1.fffffcp-2f, 0x1.55548ap-3f, 0x1.55584ep-5f, 0x1.123f2ap-7f,  // 2^-28
                     0x1.6ad088p-10f),
          bits(shifted)};
}

/// 2 to the x, |x| <= 1/2. 2^-28
LOCAL float power_of_two(float x) {
  return polynomial(x, 1.0f, 0x1.62e43p-1f, 0x1.ebfbdcp-3f, 0x1.c6af76p-5f, 0x1.3b2dacp-7f, 0x1.5f0c32p-10f,
                    0x1.41af5cp-13f);
}

// -- logarithms --

/// x = 2^exponent * (1 + rest), 2/3 <= 1 + rest < 4/3.
struct Binary {
  float exponent, rest;
};
/// Of a positive number.
LOCAL Binary binary(float x) {
  const bool denormal = x < 0x1p-126f;
  const unsigned int word = bits(denormal ? x * 0x1p23f : x);
  const unsigned int exponent = (word - 0x3f2aaaabu) & 0xff800000u;
  return {fused((float)(int)exponent, 0x1p-23f, denormal ? -23.0f : 0.0f), from_bits(word - exponent) - 1};
}

/// log(1 + x) - x over x^2, |x| <= 1/3. 2^-27
LOCAL float logarithm_rest(float x) {
  return polynomial(x, -0.5f, 0x1.555506p-2f, -0x1.fffedep-3f, 0x1.99d088p-3f, -0x1.55a18ap-3f, 0x1.1ecfap-3f,
                    -0x1.f29cb8p-4f, 0x1.1e90dep-3f, -0x1.090bfp-3f);
}

/// A logarithm's value for arguments that are not positive and finite: NaN below 0, -infinity at 0.
LOCAL float logarithm_or(float result, float x) {
  const float special = x < 0 ? kNanF : x == 0 ? -kInfinityF : x;
  return bits(x) - 1 < 0x7f7fffffu ? result : special;
}

}  // namespace cupola::device
