#include "bessel.h"

// Bessel functions of the first and the second kind, of whole order (DLMF 10.2). Below 8, orders 0 and 1 are
// polynomials times (x^2 - zero^2) for each zero, the zeros held in two parts, so that the relative error is small
// there too; above, Hankel's form, whose absolute error is small. Other orders by recurrence (DLMF 10.6.1). Float
// versions compute in double and round.

using namespace cupola::device;

namespace {

inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1, kInverseSqrtPi = 0x1.20dd750429b6dp-1;

template <int count>
LOCAL double value_of(const double (&coefficients)[count], double x) {
  double result = coefficients[count - 1];
  for (int i = count - 2; i >= 0; --i) result = fused(result, x, coefficients[i]);
  return result;
}
/// The product of x^2 - zero^2.
template <int count>
LOCAL double zeros_of(const Pair (&zeros)[count], Pair square) {
  double result = 1;
  for (int i = 0; i < count; ++i) result *= (square.high - zeros[i].high) + (square.low - zeros[i].low);
  return result;
}

/// 0 <= x < 8. J1 is this times x.
template <int order>
LOCAL double first_kind(double x) {
  const Pair square = two_product(x, x);
  const int row = (int)(square.high * 0.0625);
  const double from_middle = (square.high - (16 * row + 8)) + square.low;
  if (order == 0) return value_of(kJ0[row], from_middle) * zeros_of(kZerosOfJ0, square);
  return value_of(kJ1[row], from_middle) * zeros_of(kZerosOfJ1, square);
}
/// 1/2 <= x < 8. Y1 is this over x.
template <int order>
LOCAL double second_kind(double x) {
  const unsigned long long half = bits(x) >> 51;
  const int row = (int)half - 0x7fc;
  const double middle = from_bits(half << 51 | 1ull << 50);
  const Pair square = two_product(x, x);
  if (order == 0) return value_of(kY0[row], x - middle) * zeros_of(kZerosOfY0, square);
  return value_of(kY1[row], x - middle) * zeros_of(kZerosOfY1, square);
}

/// From 8: the function of the first kind and that of the second.
template <int order>
LOCAL Pair far(double x) {
  if (is_infinite(x)) return {0, 0};
  const double ratio = 8 / x, place = fused(ratio, ratio, -0.5);
  const double p = order ? value_of(kFarP1, place) : value_of(kFarP0, place);
  const double q = (order ? value_of(kFarQ1, place) : value_of(kFarQ0, place)) / x;
  const double sine = __nv_sin(x), cosine = __nv_cos(x);
  // The angle is x - pi/4 - order pi/2; these are its sine and cosine times sqrt 2.
  const double a = order ? -(sine + cosine) : sine - cosine, b = order ? sine - cosine : sine + cosine;
  const double scale = kInverseSqrtPi / __builtin_sqrt(x);
  return {scale * (p * b - q * a), scale * (p * a + q * b)};
}

template <int order>
LOCAL double bessel_j(double x) {
  const double magnitude = __builtin_fabs(x);
  if (magnitude < 8) return order ? first_kind<1>(magnitude) * x : first_kind<0>(magnitude);
  const double value = far<order>(magnitude).high;
  return order && x < 0 ? -value : value;
}
template <int order>
LOCAL double bessel_y(double x) {
  if (x >= 8) return far<order>(x).low;
  if (x >= 0.5) return order ? second_kind<1>(x) / x : second_kind<0>(x);
  if (!(x >= 0)) return __builtin_nan("");
  if (x == 0) return -kInfinity;
  const double logarithm = kTwoOverPi * __nv_log(x), place = fused(x, x, -0.125);
  if (order == 0) return fused(logarithm, first_kind<0>(x), value_of(kRestOfY0, place));
  return fused(x, fused(logarithm, first_kind<1>(x), value_of(kRestOfY1, place)), -kTwoOverPi / x);
}

/// Upwards from orders 0 and 1: stable for the second kind, and for the first while the order is below x.
LOCAL double upwards(int order, double x, double zero, double one) {
  const double twice = 2 / x;
  for (int k = 1; k < order && !is_infinite(one); ++k) {
    const double next = k * twice * one - zero;
    zero = one, one = next;
  }
  return one;
}
/// Whether the function is below all doubles: it is less than (e x / (2 order))^order.
LOCAL bool too_small(int order, double x) {
  return order * __nv_log(1.3591409142295225 * x / order) < -800;
}
/// The series' first two terms (DLMF 10.2.2), x < 2^-20.
LOCAL double series(int order, double x) {
  const double half = x / 2;
  double term = 1;
  for (int k = 1; k <= order && term != 0; ++k) term *= half / k;
  return fused(term, -half * half / (order + 1.0), term);
}
/// Downwards from where nothing is left to order 0 or 1, whose value is known (J. C. P. Miller's algorithm). x > 0.
LOCAL double downwards(int order, double x) {
  const double twice = 2 / x;
  int k = order + 20 + (int)__builtin_sqrt(100.0 * order);
  double above = 0, value = 0x1p-1000, wanted = 0;
  for (; k > 0; --k) {
    const double below = k * twice * value - above;
    above = value, value = below;
    if (k - 1 == order) wanted = value;
    if (__builtin_fabs(value) > 0x1p500) value *= 0x1p-1000, above *= 0x1p-1000, wanted *= 0x1p-1000;
  }
  // Of the two at the end the greater is the surer.
  const double zero = bessel_j<0>(x), one = bessel_j<1>(x);
  return __builtin_fabs(zero) > __builtin_fabs(one) ? wanted * (zero / value) : wanted * (one / above);
}

/// "CUDA Math API, jn": NaN for orders below 0.
LOCAL double bessel_jn(int order, double x) {
  if (order < 0 || is_nan(x)) return __builtin_nan("");
  if (order == 0) return bessel_j<0>(x);
  if (order == 1) return bessel_j<1>(x);
  const double magnitude = __builtin_fabs(x);
  if (is_infinite(magnitude) || too_small(order, magnitude)) return order & 1 ? __builtin_copysign(0.0, x) : 0.0;
  const double value = magnitude < 0x1p-20 ? series(order, magnitude)
                       : order < magnitude ? upwards(order, magnitude, bessel_j<0>(magnitude), bessel_j<1>(magnitude))
                                           : downwards(order, magnitude);
  return (order & 1) && x < 0 ? -value : value;
}
LOCAL double bessel_yn(int order, double x) {
  if (order < 0 || !(x >= 0)) return __builtin_nan("");
  if (order == 0) return bessel_y<0>(x);
  if (order == 1 || x == 0) return bessel_y<1>(x);
  if (is_infinite(x)) return 0;
  return upwards(order, x, bessel_y<0>(x), bessel_y<1>(x));
}

}  // namespace

#define BESSEL(name, parameters, wide, narrow) \
  NV double __nv_##name parameters(double) {   \
    return wide;                               \
  }                                            \
  NV float __nv_##name##f parameters(float) {  \
    return (float)narrow;                      \
  }
#define X(Float) (Float x)
#define NX(Float) (int n, Float x)
BESSEL(j0, X, bessel_j<0>(x), bessel_j<0>((double)x))
BESSEL(j1, X, bessel_j<1>(x), bessel_j<1>((double)x))
BESSEL(y0, X, bessel_y<0>(x), bessel_y<0>((double)x))
BESSEL(y1, X, bessel_y<1>(x), bessel_y<1>((double)x))
BESSEL(jn, NX, bessel_jn(n, x), bessel_jn(n, (double)x))
BESSEL(yn, NX, bessel_yn(n, x), bessel_yn(n, (double)x))
#undef X
#undef NX
