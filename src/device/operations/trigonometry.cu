#include "operation.h"

// Trigonometric and hyperbolic functions, and angles. Inverses of reciprocals are not made of the reciprocal where its
// rounding would be felt: near 1 the arc functions magnify it without bound.

namespace cupola::device::operations {

FUNCTION(asin)
FUNCTION(acos)
FUNCTION(atan)
FUNCTION(sinh)
FUNCTION(cosh)
FUNCTION(tanh)
FUNCTION(asinh)
FUNCTION(acosh)
FUNCTION(atanh)

FAST_FUNCTION(sin)
FAST_FUNCTION(cos)
FAST_FUNCTION(tan)
FAST_FUNCTION(sinpi)
FAST_FUNCTION(cospi)

template <typename T>
LOCAL T atan2(T x, T y) {
  return math::atan2(x, y);
}
FLOATS(atan2, XY)

template <typename T>
LOCAL T hypot(T x, T y) {
  return math::hypot(x, y);
}
FLOATS(hypot, XY)

template <typename Math, typename T>
LOCAL T tanpi(T x) {
  return Math::quotient(Math::sinpi(x), Math::cospi(x));
}
FAST(tanpi, X)

template <typename Math, typename T>
LOCAL T sec(T x) {
  return Math::quotient((T)1, Math::cos(x));
}
FAST(sec, X)

template <typename Math, typename T>
LOCAL T csc(T x) {
  return Math::quotient((T)1, Math::sin(x));
}
FAST(csc, X)

template <typename Math, typename T>
LOCAL T cot(T x) {
  return Math::quotient((T)1, Math::tan(x));
}
FAST(cot, X)

/// sqrt(x^2 - 1), x >= 0; x - 1 is exact where x is near 1.
template <typename T>
LOCAL T root_below_square(T x) {
  return math::sqrt(x - 1) * math::sqrt(x + 1);
}

template <typename T>
LOCAL T asec(T x) {
  return math::atan2(root_below_square(math::fabs(x)), math::copysign((T)1, x));
}
FLOATS(asec, X)

template <typename T>
LOCAL T acsc(T x) {
  return math::copysign(math::atan2((T)1, root_below_square(math::fabs(x))), x);
}
FLOATS(acsc, X)

template <typename T>
LOCAL T acot(T x) {
  return math::atan(1 / x);
}
FLOATS(acot, X)

/// 2 / (e^x + e^-x) in e^-|x|, which does not overflow.
template <typename T>
LOCAL T sech(T x) {
  const T power = math::exp(-math::fabs(x));
  return 2 * power / (1 + power * power);
}
FLOATS(sech, X)

template <typename T>
LOCAL T csch(T x) {
  const T magnitude = math::fabs(x);
  return math::copysign(2 * math::exp(-magnitude) / -math::expm1(-2 * magnitude), x);
}
FLOATS(csch, X)

template <typename T>
LOCAL T coth(T x) {
  return 1 / math::tanh(x);
}
FLOATS(coth, X)

/// Below this 1/x is so large that its square is all that counts beside 1.
inline constexpr double kSmall = 1e-9;
inline constexpr double kLogOfTwo = 0.693147180559945309;

template <typename T>
LOCAL T asech(T x) {
  if (x < (T)kSmall) return (T)kLogOfTwo - math::log(x);
  return math::asinh(math::sqrt((1 - x) * (1 + x)) / x);
}
FLOATS(asech, X)

template <typename T>
LOCAL T acsch(T x) {
  const T magnitude = math::fabs(x);
  return math::copysign(magnitude < (T)kSmall ? (T)kLogOfTwo - math::log(magnitude) : math::asinh(1 / magnitude), x);
}
FLOATS(acsch, X)

template <typename T>
LOCAL T acoth(T x) {
  return math::copysign((T)0.5 * math::log1p(2 / (math::fabs(x) - 1)), x);
}
FLOATS(acoth, X)

template <typename Math, typename T>
LOCAL T sinc(T x) {
  return math::fabs(x) < (T)kSmall ? (T)1 : Math::quotient(Math::sinpi(x), (T)kPi * x);
}
FAST(sinc, X)

template <typename T>
LOCAL T radians(T x) {
  return x * (T)(kPi / 180);
}
FLOATS(radians, X)

template <typename T>
LOCAL T degrees(T x) {
  return x * (T)(180 / kPi);
}
FLOATS(degrees, X)

template <typename T>
LOCAL T deg2rad(T x) {
  return radians<T>(x);
}
FLOATS(deg2rad, X)

template <typename T>
LOCAL T rad2deg(T x) {
  return degrees<T>(x);
}
FLOATS(rad2deg, X)

}  // namespace cupola::device::operations
