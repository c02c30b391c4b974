#include "powers.h"

// Powers and the gamma function of double.

using namespace cupola::device;

namespace {

inline constexpr double kTooLarge = 1500;  ///< e to it is beyond all doubles, with room for factors

/// An exponent as is, or one of its sign that is too large.
LOCAL Pair bounded(Pair exponent) {
  const bool inside = __builtin_fabs(exponent.high) < kTooLarge;
  return {inside ? exponent.high : __builtin_copysign(kTooLarge, exponent.high), inside ? exponent.low : 0.0};
}

/// log of the gamma function from 8 (DLMF 5.11.1). `low` is what x lacks; the derivative is about log x - 1/(2 x).
LOCAL Pair log_gamma_from_8(Pair x) {
  const Pair logarithm = logarithm_pair(x.high);
  const double inverse = 1 / x.high, square = inverse * inverse;
  const double series = inverse * polynomial(square, 0x1.5555555555555p-4, -0x1.6c16c16c16c17p-9, 0x1.a01a01a01a01ap-11,
                                             -0x1.3813813813814p-11, 0x1.b951e2b18ff23p-11, -0x1.f6ab0d9993c7dp-10,
                                             0x1.a41a41a41a41ap-8, -0x1.e4286cb0f5398p-6, 0x1.6fe96381e0680p-3);
  const Pair most = two_sum(x.high, -0.5) * logarithm + (-x.high);
  const double derivative = logarithm.high - 0.5 * inverse;
  return most + Pair{0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55} + fused(x.low, derivative, series);
}

/// gamma(x) is gamma(x + n) / (x (x + 1) ... (x + n - 1)), where x + n is 8 at least; below 0 by
/// gamma(-z) = -pi / (z sin(pi z) gamma(z)).
LOCAL double gamma_of(double x) {
  const double magnitude = __builtin_fabs(x), z = magnitude > 200 ? 200.0 : magnitude;
  Pair place = {z, 0}, product = {1, 0};
  for (int i = 0; i < 8; ++i) {
    const bool below = place.high < 8;
    const Pair next = product * place, above = two_sum(z, i + 1.0);
    product = {below ? next.high : product.high, below ? next.low : product.low};
    place = {below ? above.high : place.high, below ? above.low : place.low};
  }
  const Pair exponent = log_gamma_from_8(place);
  if (x > 0) {
    PowerOfE result = exponential_pair(exponent);
    const double quotient = result.value / product.high;
    result.value = fused(-quotient, product.low / product.high, quotient);
    return scaled(result);
  }
  PowerOfE result = exponential_pair({-exponent.high, -exponent.low});
  result.value *= -kPi / (magnitude * __nv_sinpi(magnitude)) * product.high;
  return scaled(result);
}

}  // namespace

/// 1.1 ulp. Signs and special cases as in C99, F.9.4.4.
ELEMENTARY double __nv_pow(double x, double y) {
  const double magnitude = __builtin_fabs(x);
  const bool ordinary = bits(magnitude) - 1 < 0x7fefffffffffffffull;  // neither 0 nor infinite nor NaN
  const Pair logarithm = logarithm_pair(ordinary ? magnitude : 1.0);
  // Beyond 2^1000 the product may overflow, and what it is does not matter.
  const double inside = within(y, -0x1p1000, 0x1p1000);
  const double edge = magnitude == 0 ? -kInfinity : kInfinity;
  const Pair exponent = logarithm * (is_nan(y) ? 0.0 : inside);
  const double power = scaled(exponential_pair(bounded(exponent)));
  const double edge_power = (edge > 0) == (y > 0) ? kInfinity : 0.0;
  const double size = ordinary ? power : edge_power;
  // Numbers from 2^53 on are even.
  const double half = y * 0.5;
  const bool whole = __builtin_rint(y) == y, odd = whole && __builtin_rint(half) != half;
  const bool negative = (long long)bits(x) < 0, no_power = negative && !whole && ordinary;
  const double result = negative && odd ? -size : size;
  const bool one = y == 0 || x == 1 || (x == -1 && is_infinite(y));
  return one ? 1.0 : is_nan(x) || is_nan(y) || no_power ? __builtin_nan("") : result;
}

/// 0.51 ulp; the C library's has up to 1.6.
ELEMENTARY double __nv_log10(double x) {
  const bool ordinary = bits(x) - 1 < 0x7fefffffffffffffull;
  const Pair result = logarithm_pair(ordinary ? x : 1.0) * Pair{0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57};
  const double special = x < 0 ? __builtin_nan("") : x == 0 ? -kInfinity : x;
  return ordinary ? result.high + result.low : special;
}

/// 4 ulp. "CUDA Math API, tgamma": NaN for whole numbers below 0.
NV double __nv_tgamma(double x) {
  if (is_nan(x) || x == kInfinity) return x;
  if (__builtin_fabs(x) < 0x1p-60) return 1 / x;
  if (x < 0 && __builtin_rint(x) == x) return __builtin_nan("");
  return gamma_of(x);
}
/// Half an ulp and what the double's error adds.
NV float __nv_tgammaf(float x) {
  return (float)__nv_tgamma((double)x);
}
