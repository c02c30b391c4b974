#include "rounding.h"

// Arithmetic with a given rounding: "CUDA Math API, Single / Double Precision Intrinsics". All are exact to the last
// bit, for subnormal numbers and at overflow too.
//
// Float: the operation in double leaves a remainder whose sign is exact, and narrow() rounds the two once. Double:
// operands are brought to [1, 2), where remainders neither overflow nor underflow, and scale() rounds when it brings
// the exponent back.

using namespace cupola::device;

namespace {

/// mantissa * 2^exponent, 1 <= |mantissa| < 2.
struct Normal {
  double mantissa;
  int exponent;
};
LOCAL Normal normalise(double x) {
  int bias = 1023;
  if (__builtin_fabs(x) < 0x1p-1022) x *= 0x1p64, bias += 64;
  return {from_bits((bits(x) & 0x800fffffffffffffull) | 0x3ff0000000000000ull), (int)(bits(x) >> 52 & 0x7ff) - bias};
}

LOCAL bool ordinary(double x) {
  return x != 0 && is_finite(x);
}

/// (value + rest) * 2^exponent, where |rest| is at most half an ulp of value.
LOCAL double scale(double value, double rest, int exponent, Rounding rounding) {
  const double nearest = __builtin_ldexp(value, exponent);
  if (!is_finite(nearest)) return step(nearest, -value, rounding);
  const double lost = value - __builtin_ldexp(nearest, -exponent);
  return step(nearest, lost != 0 ? lost : rest, rounding);
}

/// The sum of two numbers that cancel is -0 rounding down, else +0; of two zeros of one sign that zero.
template <typename Float>
LOCAL Float zero_sum(Float a, Float b, Rounding rounding) {
  if (a == 0 && b == 0 && __builtin_signbit(a) == __builtin_signbit(b)) return a;
  return rounding == Rounding::Down ? (Float)-0.0 : (Float)0.0;
}

LOCAL double add(double a, double b, Rounding rounding) {
  if (__builtin_fabs(a) < __builtin_fabs(b)) {
    const double other = a;
    a = b, b = other;
  }
  const double sum = a + b;
  if (!is_finite(a) || !is_finite(b)) return sum;
  if (sum == 0) return zero_sum(a, b, rounding);
  return step(sum, is_finite(sum) ? b - (sum - a) : -sum, rounding);
}
LOCAL double multiply(double a, double b, Rounding rounding) {
  if (!ordinary(a) || !ordinary(b)) return a * b;
  const Normal left = normalise(a), right = normalise(b);
  const Pair product = two_product(left.mantissa, right.mantissa);
  return scale(product.high, product.low, left.exponent + right.exponent, rounding);
}
LOCAL double divide(double a, double b, Rounding rounding) {
  if (!ordinary(a) || !ordinary(b)) return a / b;
  const Normal left = normalise(a), right = normalise(b);
  const double quotient = left.mantissa / right.mantissa;
  const double remainder = __builtin_fma(-quotient, right.mantissa, left.mantissa);
  return scale(quotient, right.mantissa > 0 ? remainder : -remainder, left.exponent - right.exponent, rounding);
}
LOCAL double square_root(double x, Rounding rounding) {
  if (!ordinary(x) || x < 0) return __builtin_sqrt(x);
  const bool small = x < 0x1p-900;
  const double scaled = small ? x * 0x1p200 : x, root = __builtin_sqrt(scaled);
  const double result = step(root, __builtin_fma(-root, root, scaled), rounding);
  return small ? result * 0x1p-100 : result;
}
/// Error of an fma after Boldo and Muller, "Exact and Approximated Error of the FMA", IEEE Trans. Computers 60(2),
/// 2011.
LOCAL double fma_error(double a, double b, double c, double result) {
  const Pair product = two_product(a, b), low = two_sum(c, product.low), high = two_sum(product.high, low.high);
  const Pair error = fast_two_sum((high.high - result) + high.low, low.low);
  return error.high != 0 ? error.high : error.low;
}
LOCAL double multiply_add(double a, double b, double c, Rounding rounding) {
  if (!is_finite(a) || !is_finite(b) || !is_finite(c)) return __builtin_fma(a, b, c);
  if (a == 0 || b == 0) return c == 0 ? zero_sum(a * b, c, rounding) : c;
  if (c == 0) return multiply(a, b, rounding);
  const Normal left = normalise(a), right = normalise(b), addend = normalise(c);
  const int exponent = left.exponent + right.exponent, distance = addend.exponent - exponent;
  const double sign = __builtin_copysign(1.0, left.mantissa) * __builtin_copysign(1.0, right.mantissa);
  // Where one of the two lies far below the other's last bit, only its sign matters.
  if (distance > 120) return scale(addend.mantissa, sign, addend.exponent, rounding);
  if (distance < -120) {
    const Pair product = two_product(left.mantissa, right.mantissa);
    return scale(product.high, product.low != 0 ? product.low : addend.mantissa, exponent, rounding);
  }
  const double shifted = __builtin_ldexp(addend.mantissa, distance);
  const double result = __builtin_fma(left.mantissa, right.mantissa, shifted);
  if (result == 0) return zero_sum(1.0, -1.0, rounding);
  return scale(result, fma_error(left.mantissa, right.mantissa, shifted, result), exponent, rounding);
}

LOCAL float add(float a, float b, Rounding rounding) {
  const Pair sum = two_sum(a, b);
  if (sum.high == 0) return zero_sum(a, b, rounding);
  return narrow(sum.high, sum.low, rounding);
}
LOCAL float multiply(float a, float b, Rounding rounding) {
  return narrow((double)a * b, 0, rounding);
}
LOCAL float divide(float a, float b, Rounding rounding) {
  const double quotient = (double)a / b;
  const double remainder = __builtin_fma(-quotient, (double)b, (double)a);
  return narrow(quotient, b > 0 ? remainder : -remainder, rounding);
}
LOCAL float square_root(float x, Rounding rounding) {
  const double root = __builtin_sqrt((double)x);
  return narrow(root, __builtin_fma(-root, root, (double)x), rounding);
}
LOCAL float multiply_add(float a, float b, float c, Rounding rounding) {
  const double product = (double)a * b;
  const Pair sum = two_sum(product, c);
  if (sum.high == 0)
    return product == 0 && c == 0 ? zero_sum(product, (double)c, rounding) : zero_sum(1.0, -1.0, rounding);
  return narrow(sum.high, sum.low, rounding);
}

}  // namespace

/// A function in its four roundings. To nearest is what the instructions do; `directed` is for a rounding r.
#define ROUNDED(type, name, parameters, nearest, directed) \
  NV type __nv_##name##_rn parameters {                    \
    return nearest;                                        \
  }                                                        \
  DIRECTED(type, name##_rz, parameters, directed, Zero)    \
  DIRECTED(type, name##_ru, parameters, directed, Up)      \
  DIRECTED(type, name##_rd, parameters, directed, Down)
#define DIRECTED(type, name, parameters, directed, rounding) \
  NV type __nv_##name parameters {                           \
    constexpr Rounding r = Rounding::rounding;               \
    return directed;                                         \
  }

ROUNDED(float, fadd, (float a, float b), a + b, add(a, b, r))
ROUNDED(float, fsub, (float a, float b), a - b, add(a, -b, r))
ROUNDED(float, fmul, (float a, float b), a* b, multiply(a, b, r))
ROUNDED(float, fdiv, (float a, float b), a / b, divide(a, b, r))
ROUNDED(float, frcp, (float x), 1 / x, divide(1.0f, x, r))
ROUNDED(float, fsqrt, (float x), __builtin_sqrtf(x), square_root(x, r))
ROUNDED(float, fmaf, (float a, float b, float c), __builtin_fmaf(a, b, c), multiply_add(a, b, c, r))
ROUNDED(float, fmaf_ieee, (float a, float b, float c), __builtin_fmaf(a, b, c), multiply_add(a, b, c, r))
ROUNDED(double, dadd, (double a, double b), a + b, add(a, b, r))
ROUNDED(double, dsub, (double a, double b), a - b, add(a, -b, r))
ROUNDED(double, dmul, (double a, double b), a* b, multiply(a, b, r))
ROUNDED(double, ddiv, (double a, double b), a / b, divide(a, b, r))
ROUNDED(double, drcp, (double x), 1 / x, divide(1.0, x, r))
ROUNDED(double, dsqrt, (double x), __builtin_sqrt(x), square_root(x, r))
ROUNDED(double, fma, (double a, double b, double c), __builtin_fma(a, b, c), multiply_add(a, b, c, r))
