#include "operation.h"

// Roots, exponentials, logarithms, powers and special functions.

namespace cupola::device::operations {

FUNCTION(log10)
FUNCTION(log2)
FUNCTION(exp2)
FUNCTION(cbrt)
FUNCTION(erf)
FUNCTION(erfc)
FUNCTION(tgamma)
FUNCTION(lgamma)

FAST_FUNCTION(sqrt)
FAST_FUNCTION(exp)
FAST_FUNCTION(log)
FAST_FUNCTION(expm1)
FAST_FUNCTION(log1p)

/// x to the y of integers wraps, by squaring; the exponent's sign is looked at by its caller.
template <typename T>
LOCAL T whole_power(T x, T y) {
  T result = 1;
  for (; y > 0; y >>= 1) {
    if (y & 1) result *= x;
    x *= x;
  }
  return result;
}
template <typename T>
LOCAL T power(T x, T y) {
  if constexpr ((T)0.5 != 0) {
    return math::pow(x, y);
  } else if constexpr ((T)-1 < 0) {
    if (y >= 0) return whole_power(x, y);
    return x == 1 ? (T)1 : x == -1 ? (y & 1 ? (T)-1 : (T)1) : (T)0;
  } else {
    return whole_power(x, y);
  }
}
NUMBERS(power, XY)

/// Of equal arguments without a difference, which infinities lack.
template <typename Math, typename T>
LOCAL T logaddexp(T x, T y) {
  const T more = Math::log1p(Math::exp(-math::fabs(x - y)));
  return x == y ? x + (T)0.693147180559945309 : (x > y ? x : y) + more + (is_nan(x) ? x : (T)0);
}
FAST(logaddexp, XY)

template <typename Math, typename T>
LOCAL T logaddexp2(T x, T y) {
  const T more = Math::log1p(Math::exp2(-math::fabs(x - y))) * (T)1.44269504088896341;
  return x == y ? x + 1 : (x > y ? x : y) + more + (is_nan(x) ? x : (T)0);
}
FAST(logaddexp2, XY)

LOCAL float inverse_root(Fast, float x) {
  return approximate_inverse_root(x);
}
template <typename T>
LOCAL T inverse_root(Precise, T x) {
  return 1 / math::sqrt(x);
}
template <typename Math, typename T>
LOCAL T rsqrt(T x) {
  return inverse_root(Math{}, x);
}
FAST(rsqrt, X)

template <typename Math, typename T>
LOCAL T xlogy(T x, T y) {
  return x == 0 && !is_nan(y) ? (T)0 : x * Math::log(y);
}
FAST(xlogy, XY)

// Powers and their inverses amplify rounding errors by their logarithms: float goes through double.

/// Near 1 the power's distance from it is taken from expm1, elsewhere from the power.
LOCAL double boxcox_of(double x, double y) {
  const double logarithm = math::log(x), exponent = y * logarithm;
  if (math::fabs(exponent) < kNegligible<double>) return logarithm;
  const double rest = math::fabs(exponent) < 0.5 ? math::expm1(exponent) : math::pow(math::fabs(x), y) - 1;
  return is_nan(exponent) ? (y == 0 ? logarithm : exponent) : rest / y;
}
template <typename T>
LOCAL T boxcox(T x, T y) {
  return (T)boxcox_of((double)x, (double)y);
}
FLOATS(boxcox, XY)

/// log(1 + xy) / y, and its limit x; where the product is out of range it is all.
LOCAL double inverse_exponent(double x, double y) {
  const double product = y * x;
  if (y == 0 || math::fabs(product) < kNegligible<double>) return x;
  return (product == kInfinity ? math::log(math::fabs(x)) + math::log(math::fabs(y)) : math::log1p(product)) / y;
}
LOCAL double inv_boxcox_by(Precise, double x, double y) {
  return math::exp(inverse_exponent(x, y));
}
LOCAL float inv_boxcox_by(Precise, float x, float y) {
  return (float)math::exp(inverse_exponent((double)x, (double)y));
}
LOCAL float inv_boxcox_by(Fast, float x, float y) {
  return Fast::exp(y == 0 ? x : Fast::quotient(math::log1p(y * x), y));
}
template <typename Math, typename T>
LOCAL T inv_boxcox(T x, T y) {
  return inv_boxcox_by(Math{}, x, y);
}
FAST(inv_boxcox, XY)

template <typename T>
LOCAL T tukey_transform(T x, T y) {
  return y == 0 ? math::log(x) : y < 0 ? -math::pow(x, y) : math::pow(x, y);
}
FLOATS(tukey_transform, XY)

template <typename T>
LOCAL T arcsinh_asinh(T x, T y, T z) {
  return math::asinh(y + z * x);
}
FLOATS(arcsinh_asinh, XYZ)

}  // namespace cupola::device::operations
