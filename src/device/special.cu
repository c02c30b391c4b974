#include "powers.h"

// Functions that the C library lacks. Float versions compute in double and round: half an ulp more than the double's
// error; rsqrtf is the device's approximation. The error bounds in ulp stand at each function; device_test.cpp checks
// them against long double.

using namespace cupola::device;

extern "C" {
DEVICE double cbrt(double), erf(double), erfc(double);
}

namespace {

inline constexpr double kSqrtPi = 1.7724538509055160273, kInverseSqrtPi = 0.56418958354775628695;
inline constexpr double kSqrtHalf = 0.70710678118654752440, kSqrtHalfLow = -4.8336466567264567e-17;

// -- reciprocal roots --

/// 1 ulp: a Newton step on 1/s, corrected for what s lacks of the root.
LOCAL double inverse_square_root(double x) {
  const bool small = x < 0x1p-900;
  const double scaled = small ? x * 0x1p200 : x, root = __builtin_sqrt(scaled), inverse = 1 / root;
  if (!is_finite(inverse) || inverse == 0) return inverse;
  const double root_error = __builtin_fma(-root, root, scaled) / (2 * scaled);
  const double result = __builtin_fma(inverse, __builtin_fma(-root, inverse, 1.0) - root_error, inverse);
  return small ? result * 0x1p100 : result;
}

// -- norms --

/// Root of a sum of squares as root * 2^exponent; the Pair holds about 100 bits. All arguments finite, one not zero.
struct Norm {
  Pair root;
  int exponent;
};
LOCAL Norm norm(const double* x, int count, double largest) {
  const int exponent = (int)(bits(largest) >> 52 & 0x7ff) - 1023;
  // Two steps: 2^-exponent may be out of range by itself.
  const int half = exponent / 2;
  const double by = from_bits((unsigned long long)(1023 - half) << 52);
  const double then = from_bits((unsigned long long)(1023 - (exponent - half)) << 52);
  Pair sum = {0, 0};
  for (int i = 0; i < count; ++i) {
    const double scaled = x[i] * by * then;
    sum = sum + two_product(scaled, scaled);
  }
  const double root = __builtin_sqrt(sum.high);
  return {{root, (__builtin_fma(-root, root, sum.high) + sum.low) / (2 * root)}, exponent};
}
/// 1 ulp. Any infinity gives infinity, as in hypot.
template <bool inverse>
LOCAL double norm_of(const double* x, int count) {
  double largest = 0;
  bool infinite = false, nan = false;
  for (int i = 0; i < count; ++i) {
    const double magnitude = __builtin_fabs(x[i]);
    infinite |= is_infinite(magnitude);
    nan |= is_nan(magnitude);
    if (magnitude > largest) largest = magnitude;
  }
  if (infinite) return inverse ? 0.0 : kInfinity;
  if (nan) return __builtin_nan("");
  if (largest == 0) return inverse ? kInfinity : 0.0;
  const Norm result = norm(x, count, largest);
  if (!inverse) return __builtin_ldexp(result.root.high + result.root.low, result.exponent);
  const double quotient = 1 / result.root.high;
  const double error = __builtin_fma(-quotient, result.root.high, 1.0) - quotient * result.root.low;
  return __builtin_ldexp(__builtin_fma(quotient, error, quotient), -result.exponent);
}

// -- sine and cosine of pi x --

/// sin(pi t) and cos(pi t) for |t| <= 1/4, with pi t to about 100 bits.
LOCAL double sine_of(double t) {
  const double angle = kPi * t;
  return __builtin_fma(__builtin_fma(kPi, t, -angle) + kPiLow * t, __builtin_cos(angle), __builtin_sin(angle));
}
LOCAL double cosine_of(double t) {
  const double angle = kPi * t;
  return __builtin_fma(-(__builtin_fma(kPi, t, -angle) + kPiLow * t), __builtin_sin(angle), __builtin_cos(angle));
}
/// 2 ulp: the argument is reduced exactly to a quarter turn.
LOCAL double sine_pi(double x) {
  if (!is_finite(x)) return __builtin_nan("");
  const double reduced = x - 2 * __builtin_rint(x / 2);  // [-1, 1]
  const double quarter = __builtin_rint(2 * reduced), rest = reduced - quarter / 2;
  const int quadrant = (int)quarter & 3;
  if (rest == 0 && !(quadrant & 1)) return __builtin_copysign(0.0, x);
  const double value = quadrant & 1 ? cosine_of(rest) : sine_of(rest);
  return quadrant & 2 ? -value : value;
}
LOCAL double cosine_pi(double x) {
  if (!is_finite(x)) return __builtin_nan("");
  const double reduced = x - 2 * __builtin_rint(x / 2);
  const double quarter = __builtin_rint(2 * reduced), rest = reduced - quarter / 2;
  const int quadrant = (int)quarter & 3;
  if (rest == 0 && (quadrant & 1)) return 0.0;
  const double value = quadrant & 1 ? sine_of(rest) : cosine_of(rest);
  return ((quadrant + 1) & 2) ? -value : value;
}

// -- error functions --

/// exp(-x^2), the square's rounding error put right.
LOCAL double gauss(double x) {
  const Pair square = two_product(x, x);
  const double value = __builtin_exp(-square.high);
  return __builtin_fma(value, -square.low, value);
}

/// exp(x^2) erfc(x). 4 ulp: the product below 1, then the continued fraction (DLMF 7.9.2), the asymptotic series
/// (DLMF 7.12.1) from 10.
LOCAL double scaled_erfc(double x) {
  if (x < 1) {
    const Pair square = two_product(x, x);
    const double power = __builtin_exp(square.high);
    if (!is_finite(power)) return power;
    return __builtin_fma(power, square.low, power) * erfc(x);
  }
  if (x < 10) {
    double fraction = x;
    for (int k = 20 + (int)(220 / (x * x)); k > 0; --k) fraction = x + 0.5 * k / fraction;
    return kInverseSqrtPi / fraction;
  }
  const double ratio = 1 / (2 * x) / x;
  double sum = 0;
  for (int k = 13; k > 0; --k) sum = -(2 * k - 1) * ratio * (1 + sum);
  const double inverse = kInverseSqrtPi / x;
  return __builtin_fma(inverse, sum, inverse);
}

/// The y whose erfc is q from a y near it, for q so small that it is no normal double or nearly none: from the
/// logarithm of exp(-y^2) erfcx(y), by Newton's iteration.
LOCAL double improved_by_logarithm(double y, double q) {
  const double logarithm = __builtin_log(q);
  for (int i = 0; i < 3; ++i) {
    const double scaled = scaled_erfc(y);
    const Pair square = two_product(y, y);
    const double lack = __builtin_log(scaled) - (square.high + logarithm) - square.low;
    y = __builtin_fma(lack * (kSqrtPi / 2), scaled, y);
  }
  return y;
}

/// The y whose erfc is q, for 0 < q < 1/2. 4 ulp: a start from the asymptotic form, then Halley's iteration, which
/// triples the digits each time.
LOCAL double inverse_erfc_tail(double q) {
  const double logarithm = -__builtin_log(q * kSqrtPi);
  double y = 0.5;
  if (q < 0.1) {
    y = __builtin_sqrt(logarithm);
    for (int i = 0; i < 4; ++i) y = __builtin_sqrt(logarithm - __builtin_log(y) - 1 / (2 * y * y + 3));
  }
  if (q < 0x1p-960) return improved_by_logarithm(y, q);
  for (int i = 0; i < 4; ++i) {
    const double slope = 2 * kInverseSqrtPi * gauss(y);
    if (slope == 0) break;
    const double newton = (erfc(y) - q) / slope;
    const double correction = newton / (1 - y * newton);
    y += correction;
    if (__builtin_fabs(correction) < 1e-17 * y) break;
  }
  return y;
}
/// The y whose erf is x, for |x| <= 1/2. 4 ulp. Start: the series x sqrt(pi)/2 (1 + pi x^2/12 + 7 pi^2 x^4/480 + ...).
LOCAL double inverse_erf_centre(double x) {
  const double square = kPi * x * x;
  double y = x * (kSqrtPi / 2) * (1 + square * (1.0 / 12 + square * (7.0 / 480 + square * (127.0 / 40320))));
  for (int i = 0; i < 3; ++i) {
    const double newton = (erf(y) - x) / (2 * kInverseSqrtPi * gauss(y));
    y -= newton / (1 + y * newton);
  }
  return y;
}
LOCAL double inverse_erf(double x) {
  const double magnitude = __builtin_fabs(x);
  if (!(magnitude <= 1)) return __builtin_nan("");
  if (magnitude == 1) return __builtin_copysign(kInfinity, x);
  if (magnitude < 0x1p-30) return x * (kSqrtPi / 2);
  if (magnitude <= 0.5) return inverse_erf_centre(x);
  return __builtin_copysign(inverse_erfc_tail(1 - magnitude), x);
}
LOCAL double inverse_erfc(double q) {
  if (!(q >= 0 && q <= 2)) return __builtin_nan("");
  if (q == 0) return kInfinity;
  if (q == 2) return -kInfinity;
  if (q < 0.5) return inverse_erfc_tail(q);
  return q <= 1.5 ? inverse_erf(1 - q) : -inverse_erfc_tail(2 - q);
}

/// Normal distribution function, erfc(-x/sqrt 2)/2. 4 ulp: the rounding error of the argument is put right by the
/// derivative.
LOCAL double normal(double x) {
  const double argument = -x * kSqrtHalf;
  if (!(__builtin_fabs(argument) < 40)) return is_nan(x) ? x : x > 0 ? 1.0 : 0.0;
  const double lost = __builtin_fma(-x, kSqrtHalf, -argument) - x * kSqrtHalfLow;
  return 0.5 * __builtin_fma(-lost * 2 * kInverseSqrtPi, gauss(argument), erfc(argument));
}
/// 5 ulp.
LOCAL double inverse_normal(double p) {
  if (!(p >= 0 && p <= 1)) return __builtin_nan("");
  return p == 0.5 ? 0.0 : -2 * kSqrtHalf * inverse_erfc(2 * p);
}

// -- modified Bessel functions of the first kind --

/// I_order(x), order 0 or 1. 3 ulp. Below 30 the power series (DLMF 10.25.2), whose terms are all positive, with 100
/// bits; above the asymptotic series (DLMF 10.40.1).
LOCAL double bessel_i(int order, double x) {
  const double magnitude = __builtin_fabs(x);
  if (is_nan(x)) return x;
  double value;
  if (magnitude < 30) {
    const Pair square = two_product(magnitude / 2, magnitude / 2);
    Pair sum = {1, 0};
    for (int k = 20 + (int)(1.7 * magnitude); k > 0; --k) sum = Pair{1, 0} + square * sum / (double)(k * (k + order));
    value = order ? sum.high * (magnitude / 2) : sum.high;
  } else if (magnitude > 800) {  // beyond all doubles
    value = kInfinity;
  } else {
    const double ratio = 1 / (8 * magnitude);
    double sum = 0;
    for (int k = 24; k > 0; --k) {
      const int odd = 2 * k - 1;
      sum = (double)(odd * odd - 4 * order * order) * ratio / k * (1 + sum);
    }
    PowerOfE power = exponential_pair({magnitude, 0});  // which overflows before the result does
    power.value *= (1 + sum) * inverse_square_root(2 * kPi * magnitude);
    value = scaled(power);
  }
  return order ? __builtin_copysign(value, x) : value;
}

}  // namespace

NV double __nv_rsqrt(double x) {
  return inverse_square_root(x);
}
/// 2 ulp.
NV float __nv_rsqrtf(float x) {
  return approximate_inverse_root(x);
}
NV float __nv_frsqrt_rn(float x) {
  return (float)inverse_square_root((double)x);
}
/// 1 ulp: a Newton step on the C library's cube root.
NV double __nv_rcbrt(double x) {
  const bool small = __builtin_fabs(x) < 0x1p-700;
  const double from = small ? x * 0x1p600 : x, root = cbrt(from), inverse = 1 / root;
  if (!is_finite(inverse) || inverse == 0) return inverse;
  const Pair cube = two_product(root, root);
  const double lost = (__builtin_fma(-cube.high, root, from) - cube.low * root) / from / 3;
  const double result = __builtin_fma(inverse, __builtin_fma(-root, inverse, 1.0) - lost, inverse);
  return small ? result * 0x1p200 : result;
}

#define NORM(name, parameters, wide, ...)                      \
  NV double __nv_##name wide {                                 \
    const double x[] = {__VA_ARGS__};                          \
    return norm_of<parameters>(x, sizeof(x) / sizeof(double)); \
  }
NORM(norm3d, false, (double a, double b, double c), a, b, c)
NORM(norm4d, false, (double a, double b, double c, double d), a, b, c, d)
NORM(rnorm3d, true, (double a, double b, double c), a, b, c)
NORM(rnorm4d, true, (double a, double b, double c, double d), a, b, c, d)
NORM(rhypot, true, (double a, double b), a, b)
#undef NORM
NV double __nv_norm(int count, const double* x) {
  return norm_of<false>(x, count);
}
NV double __nv_rnorm(int count, const double* x) {
  return norm_of<true>(x, count);
}
NV float __nv_norm3df(float a, float b, float c) {
  return (float)__nv_norm3d(a, b, c);
}
NV float __nv_norm4df(float a, float b, float c, float d) {
  return (float)__nv_norm4d(a, b, c, d);
}
NV float __nv_rnorm3df(float a, float b, float c) {
  return (float)__nv_rnorm3d(a, b, c);
}
NV float __nv_rnorm4df(float a, float b, float c, float d) {
  return (float)__nv_rnorm4d(a, b, c, d);
}
NV float __nv_rhypotf(float a, float b) {
  return (float)__nv_rhypot(a, b);
}

namespace {

// Squares of floats neither overflow nor underflow in double.
template <bool inverse>
LOCAL float norm_of_floats(const float* x, int count) {
  double sum = 0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    sum += (double)x[i] * x[i];
    infinite |= is_infinite((double)x[i]);
  }
  if (infinite) return inverse ? 0.0f : (float)kInfinity;
  const double root = __builtin_sqrt(sum);
  return (float)(inverse ? 1 / root : root);
}

}  // namespace

NV float __nv_normf(int count, const float* x) {
  return norm_of_floats<false>(x, count);
}
NV float __nv_rnormf(int count, const float* x) {
  return norm_of_floats<true>(x, count);
}

NV void __nv_sincospi(double x, double* sine, double* cosine) {
  *sine = sine_pi(x), *cosine = cosine_pi(x);
}

#define SPECIAL_DOUBLE(name, implementation) \
  NV double __nv_##name(double x) {          \
    return implementation;                   \
  }
#define SPECIAL(name, implementation)     \
  SPECIAL_DOUBLE(name, implementation)    \
  NV float __nv_##name##f(float single) { \
    const double x = single;              \
    return (float)(implementation);       \
  }
SPECIAL_DOUBLE(sinpi, sine_pi(x))
SPECIAL_DOUBLE(cospi, cosine_pi(x))
SPECIAL(erfinv, inverse_erf(x))
SPECIAL(erfcinv, inverse_erfc(x))
SPECIAL(erfcx, scaled_erfc(x))
SPECIAL_DOUBLE(normcdf, normal(x))
SPECIAL(normcdfinv, inverse_normal(x))
SPECIAL(cyl_bessel_i0, bessel_i(0, x))
SPECIAL(cyl_bessel_i1, bessel_i(1, x))
