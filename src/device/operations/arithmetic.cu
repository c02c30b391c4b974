#include "operation.h"

// Arithmetic and rounding. Integers wrap; their quotient by 0 is 0, and so is the remainder.

namespace cupola::device::operations {

/// A type that is one of the integers.
template <typename T>
inline constexpr bool kInteger = (T)0.5 == 0;
template <typename T>
inline constexpr bool kSigned = (T)-1 < 0;

template <typename T>
LOCAL T add(T x, T y) {
  return x + y;
}
NUMBERS(add, XY)

template <typename T>
LOCAL T subtract(T x, T y) {
  return x - y;
}
NUMBERS(subtract, XY)

template <typename T>
LOCAL T multiply(T x, T y) {
  return x * y;
}
NUMBERS(multiply, XY)

template <typename T>
LOCAL T divide(T x, T y) {
  if constexpr (kInteger<T>)
    return y == 0 ? 0 : x / y;
  else
    return x / y;
}
NUMBERS(divide, XY)

template <typename T>
LOCAL T abs(T x) {
  if constexpr (!kInteger<T>)
    return math::fabs(x);
  else if constexpr (kSigned<T>)
    return x < 0 ? -x : x;
  else
    return x;
}
NUMBERS(abs, X)

#define ROUNDING(name, function) \
  template <typename T>          \
  LOCAL T name(T x) {            \
    return math::function(x);    \
  }                              \
  FLOATS(name, X)
ROUNDING(floor, floor)
ROUNDING(ceil, ceil)
ROUNDING(round, rint)
ROUNDING(trunc, trunc)
#undef ROUNDING

template <typename T>
LOCAL T fmod(T x, T y) {
  if constexpr (kInteger<T>)
    return y == 0 ? 0 : x % y;
  else
    return math::fmod(x, y);
}
NUMBERS(fmod, XY)

/// Of the divisor's sign.
template <typename T>
LOCAL T remainder(T x, T y) {
  const T rest = fmod<T>(x, y);
  if constexpr (kInteger<T>)
    return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
  else
    return rest == 0 ? math::copysign((T)0, y) : (rest < 0) != (y < 0) ? rest + y : rest;
}
NUMBERS(remainder, XY)

template <typename T>
LOCAL T copysign(T x, T y) {
  return math::copysign(x, y);
}
FLOATS(copysign, XY)

template <typename T>
LOCAL T fmax(T x, T y) {
  if constexpr (kInteger<T>)
    return x < y ? y : x;
  else
    return math::fmax(x, y);
}
NUMBERS(fmax, XY)

template <typename T>
LOCAL T fmin(T x, T y) {
  if constexpr (kInteger<T>)
    return y < x ? y : x;
  else
    return math::fmin(x, y);
}
NUMBERS(fmin, XY)

template <typename T>
LOCAL T fdim(T x, T y) {
  return x <= y ? (T)0 : x - y;
}
NUMBERS(fdim, XY)

template <typename T>
LOCAL T fma(T x, T y, T z) {
  if constexpr (kInteger<T>)
    return x * y + z;
  else
    return math::fma(x, y, z);
}
NUMBERS(fma, XYZ)

template <typename T>
LOCAL T sign(T x) {
  return x > 0 ? (T)1 : x < 0 ? (T)-1 : x;
}
NUMBERS(sign, X)

template <typename T>
LOCAL T reciprocal(T x) {
  return 1 / x;
}
FLOATS(reciprocal, X)

template <typename T>
LOCAL T square(T x) {
  return x * x;
}
NUMBERS(square, X)

template <typename T>
LOCAL T negative(T x) {
  return -x;
}
NUMBERS(negative, X)

template <typename T>
LOCAL T positive(T x) {
  return x;
}
NUMBERS(positive, X)

template <typename T>
LOCAL T cube(T x) {
  return x * x * x;
}
NUMBERS(cube, X)

template <typename T>
LOCAL T quartic(T x) {
  return (x * x) * (x * x);
}
NUMBERS(quartic, X)

template <typename T>
LOCAL T quintic(T x) {
  return (x * x) * (x * x) * x;
}
NUMBERS(quintic, X)

template <typename T>
LOCAL T fract(T x) {
  return x - math::floor(x);
}
FLOATS(fract, X)

/// Beyond these exponents nothing changes any more.
template <typename T>
LOCAL T ldexp(T x, T y) {
  const int exponent = (int)within(is_nan(y) ? (T)0 : y, (T)-5000, (T)5000);
  return is_nan(y) ? y : math::ldexp(x, exponent);
}
FLOATS(ldexp, XY)

template <typename T>
LOCAL T frexp(T x) {
  int exponent;
  return math::frexp(x, &exponent);
}
FLOATS(frexp, X)

template <typename T>
LOCAL T modf(T x) {
  return math::copysign(math::isinf(x) ? (T)0 : x - math::trunc(x), x);
}
FLOATS(modf, X)

template <typename T>
LOCAL T nextafter(T x, T y) {
  return math::nextafter(x, y);
}
FLOATS(nextafter, XY)

template <typename T>
LOCAL T identity(T x) {
  return x;
}
NUMBERS(identity, X)

}  // namespace cupola::device::operations
