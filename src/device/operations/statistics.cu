#include "operation.h"

// Statistics of one value, and arithmetic modulo a number.

namespace cupola::device::operations {

template <typename T>
LOCAL T standardize(T x, T y, T z) {
  return (x - y) / z;
}
FLOATS(standardize, XYZ)

template <typename T>
LOCAL T unstandardize(T x, T y, T z) {
  return x * z + y;
}
FLOATS(unstandardize, XYZ)

template <typename T>
LOCAL T iqr(T x, T y) {
  return y - x;
}
FLOATS(iqr, XY)

template <typename T>
LOCAL T mad(T x, T y) {
  return math::fabs(x - y);
}
FLOATS(mad, XY)

/// The factor is the normal distribution's upper quartile, by which its median absolute deviation falls short of its
/// standard deviation.
template <typename T>
LOCAL T z_score_robust(T x, T y, T z) {
  return (T)0.6744897501960817 * (x - y) / z;
}
FLOATS(z_score_robust, XYZ)

template <typename T>
LOCAL T winsorize(T x, T y, T z) {
  return within(x, y, z);
}
NUMBERS(winsorize, XYZ)

// -- arithmetic modulo m: the result has m's sign, and is 0 for m = 0 --

using Wide = unsigned long long;

template <typename T>
LOCAL Wide magnitude(T modulus) {
  return modulus < 0 ? (Wide)0 - (Wide)(long long)modulus : (Wide)modulus;
}

/// From 0 on, below `modulus`, which is at most 2^63 and not 0.
template <typename T>
LOCAL Wide reduced(T x, Wide modulus) {
  const Wide rest = magnitude(x) % modulus;
  return x < 0 && rest != 0 ? modulus - rest : rest;
}

/// The number below `modulus` as one of the sign of `sign`.
template <typename T>
LOCAL T signed_as(T sign, Wide rest, Wide modulus) {
  return sign < 0 && rest != 0 ? (T)(rest - modulus) : (T)rest;
}

/// Of numbers below `modulus`, which is at most 2^63: sums of two stay below 2^64.
LOCAL Wide sum_modulo(Wide x, Wide y, Wide modulus) {
  const Wide sum = x + y;
  return sum >= modulus ? sum - modulus : sum;
}
LOCAL Wide product_modulo(Wide x, Wide y, Wide modulus) {
  if (modulus <= 0x100000000ull) return x * y % modulus;
  Wide result = 0;
  for (; y != 0; y >>= 1) {
    if (y & 1) result = sum_modulo(result, x, modulus);
    x = sum_modulo(x, x, modulus);
  }
  return result;
}

template <typename T>
LOCAL T modular_add(T x, T y, T z) {
  const Wide modulus = z == 0 ? 1 : magnitude(z);
  return signed_as(z, sum_modulo(reduced(x, modulus), reduced(y, modulus), modulus), modulus);
}
INTEGERS(modular_add, XYZ)

template <typename T>
LOCAL T modular_subtract(T x, T y, T z) {
  const Wide modulus = z == 0 ? 1 : magnitude(z);
  return signed_as(z, sum_modulo(reduced(x, modulus), modulus - reduced(y, modulus), modulus) % modulus, modulus);
}
INTEGERS(modular_subtract, XYZ)

template <typename T>
LOCAL T modular_multiply(T x, T y, T z) {
  const Wide modulus = z == 0 ? 1 : magnitude(z);
  return signed_as(z, product_modulo(reduced(x, modulus), reduced(y, modulus), modulus), modulus);
}
INTEGERS(modular_multiply, XYZ)

/// 0 for negative exponents.
template <typename T>
LOCAL T modular_power(T x, T y, T z) {
  const Wide modulus = z == 0 ? 1 : magnitude(z);
  Wide result = y < 0 ? 0 : 1 % modulus, base = reduced(x, modulus);
  for (Wide exponent = y < 0 ? 0 : (Wide)y; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = product_modulo(result, base, modulus);
    base = product_modulo(base, base, modulus);
  }
  return signed_as(z, result, modulus);
}
INTEGERS(modular_power, XYZ)

}  // namespace cupola::device::operations
