#include "elementary.h"

// Elementary functions of double that are computed as those of float are (elementary.h). The other functions of double
// are the C library's (math_library.cu).

using namespace cupola::device;

namespace {

/// kToWhole for double: 2046 above the whole number.
inline constexpr double kToWholeOfDouble = 0x1.8p52 + 2046;

/// x = rest + quadrant * pi/2; pi/2 in three parts, whose products up to here are exact but for the last.
struct ReducedDouble {
  double rest;
  unsigned int quadrant;
};
inline constexpr double kFewTurnsOfDouble = 0x1p16;

LOCAL ReducedDouble reduced_double(double x) {
  const double shifted = fused(x, 0x1.45f306dc9c883p-1, 0x1.8p52), turns = shifted - 0x1.8p52;
  double rest = fused(turns, -0x1.921fb54442d18p+0, x);
  rest = fused(turns, -0x1.1a62633145c07p-54, rest);
  rest = fused(turns, 0x1.f1976b7ed8fbcp-110, rest);
  return {rest, (unsigned int)bits(shifted)};
}
LOCAL double sine_of_double(ReducedDouble angle) {
  const double square = angle.rest * angle.rest;
  const double odd = fused(polynomial(square, -0x1.5555555555548p-3, 0x1.111111110f731p-7, -0x1.a01a019be960ap-13,
                                      0x1.71de35557b42bp-19, -0x1.ae5e4bd323371p-26, 0x1.5d8b709c56dbdp-33),
                           square * angle.rest, angle.rest);  // 2^-57
  const double even = polynomial(square, 1.0, -0.5, 0x1.555555555554bp-5, -0x1.6c16c16c1500dp-10, 0x1.a01a019c8dd17p-16,
                                 -0x1.27e4f7f04f5f6p-22, 0x1.1ee9dacabc3d5p-29, -0x1.8fa5ebfa22641p-37);  // 2^-63
  return from_bits(bits(angle.quadrant & 1 ? even : odd) ^ (unsigned long long)(angle.quadrant & 2) << 62);
}

SLOW double sine_of_many_turns_of_double(double x) {
  return __builtin_sin(x);
}
SLOW double cosine_of_many_turns_of_double(double x) {
  return __builtin_cos(x);
}

}  // namespace

/// 0.85 ulp.
ELEMENTARY double __nv_exp(double x) {
  const double inside = within(x, -746.0, 711.0);
  const double shifted = fused(inside, 0x1.71547652b82fep+0, kToWholeOfDouble), whole = shifted - kToWholeOfDouble;
  double rest = fused(whole, -0x1.62e42fefa38p-1, inside);
  rest = fused(whole, -0x1.ef35793c7673p-45, rest);
  const double value = polynomial(rest, 1.0, 1.0, 0x1.000000000000ap-1, 0x1.55555555555p-3, 0x1.55555555505f3p-5,
                                  0x1.1111111125a8cp-7, 0x1.6c16c184bc2f6p-10, 0x1.a01a01386f11fp-13,
                                  0x1.a0199874e0343p-16, 0x1.71deff60cd25fp-19, 0x1.28aef5c3f2bd1p-22,
                                  0x1.adc601ebbc44bp-26);  // 2^-57
  const unsigned long long power = bits(shifted), half = power >> 1;
  return value * from_bits(half << 52) * from_bits((power - half) << 52);
}

/// 0.8 ulp. x = 2^n (1 + f). With s = f/(2 + f), log(1 + f) = log((1 + s)/(1 - s)) = 2s + s r, r a polynomial in s^2;
/// and 2s = f - f^2/2 + s f^2/2, where the first two terms are nearly all and f is exact.
ELEMENTARY double __nv_log(double x) {
  const bool denormal = x < 0x1p-1022;
  const unsigned long long word = bits(denormal ? x * 0x1p54 : x);
  const unsigned long long exponent = (word - 0x3fe5555555555555ull) & 0xfff0000000000000ull;
  const double n = (double)((int)(exponent >> 32) >> 20) - (denormal ? 54.0 : 0.0);
  const double f = from_bits(word - exponent) - 1, s = f / (2 + f), square = s * s, half = 0.5 * f * f;
  const double r = square * polynomial(square, 0x1.555555555554fp-1, 0x1.999999999c17cp-2, 0x1.24924921e410ep-2,
                                       0x1.c71c748fff828p-3, 0x1.745c4aca3b112p-3, 0x1.3b35c354cd759p-3,
                                       0x1.0dcb65b39a91ap-3, 0x1.1b82fc8616311p-3);  // 2^-62
  const double small = fused(s, half + r, n * 0x1.ef35793c7673p-45);
  const double result = fused(n, 0x1.62e42fefa38p-1, f - (half - small));
  const double special = x < 0 ? __builtin_nan("") : x == 0 ? -kInfinity : x;
  return bits(x) - 1 < 0x7fefffffffffffffull ? result : special;
}

/// 1.4 ulp.
ELEMENTARY double __nv_sin(double x) {
  if (__builtin_fabs(x) <= kFewTurnsOfDouble) return x == 0 ? x : sine_of_double(reduced_double(x));
  return sine_of_many_turns_of_double(x);
}
/// 1.5 ulp.
ELEMENTARY double __nv_cos(double x) {
  if (!(__builtin_fabs(x) <= kFewTurnsOfDouble)) return cosine_of_many_turns_of_double(x);
  const ReducedDouble angle = reduced_double(x);
  return sine_of_double({angle.rest, angle.quadrant + 1});
}
ELEMENTARY void __nv_sincos(double x, double* sine, double* cosine) {
  *sine = __nv_sin(x), *cosine = __nv_cos(x);
}
