#include "device.h"

// Functions that are one LLVM intrinsic or one function of the C library. Accuracy is the C library's, within CUDA's
// bounds.

using namespace cupola::device;

/// A function in both precisions. The parameters are one of the shapes below, of the type.
#define BOTH(name, parameters, result, result_f) \
  NV double __nv_##name parameters(double) {     \
    return result;                               \
  }                                              \
  NV float __nv_##name##f parameters(float) {    \
    return result_f;                             \
  }
#define X(Float) (Float x)
#define XY(Float) (Float x, Float y)
#define XYZ(Float) (Float x, Float y, Float z)
#define NX(Float) (int n, Float x)
#define XN(Float) (Float x, int n)
#define X_TO_Y(Float) (Float x, Float * y)

/// A function of the C library, which it declares.
#define LIBRARY(name, parameters, arguments)         \
  extern "C" DEVICE double name parameters(double);  \
  extern "C" DEVICE float name##f parameters(float); \
  BOTH(name, parameters, name arguments, name##f arguments)
/// The C library's float version is less exact than CUDA's bound: round the double one.
#define THROUGH_DOUBLE(name, parameters, arguments, arguments_f) \
  extern "C" DEVICE double name parameters(double);              \
  BOTH(name, parameters, name arguments, (float)name arguments_f)
#define INTRINSIC(name, parameters, arguments) \
  BOTH(name, parameters, __builtin_##name arguments, __builtin_##name##f arguments)
#define DOUBLE_LIBRARY(name, parameters, arguments) \
  extern "C" DEVICE double name parameters(double); \
  NV double __nv_##name parameters(double) {        \
    return name arguments;                          \
  }
#define DOUBLE_INTRINSIC(name, parameters, arguments) \
  NV double __nv_##name parameters(double) {          \
    return __builtin_##name arguments;                \
  }

// The float functions of these names are in exponentials.cu, trigonometry.cu and so on (elementary.h), exp, log, sin
// and cos of double in doubles.cu.
DOUBLE_INTRINSIC(tan, X, (x))
DOUBLE_INTRINSIC(asin, X, (x))
DOUBLE_INTRINSIC(acos, X, (x))
DOUBLE_INTRINSIC(atan, X, (x))
DOUBLE_INTRINSIC(atan2, XY, (x, y))
DOUBLE_INTRINSIC(sinh, X, (x))
DOUBLE_INTRINSIC(cosh, X, (x))
DOUBLE_INTRINSIC(tanh, X, (x))
DOUBLE_INTRINSIC(exp2, X, (x))
DOUBLE_INTRINSIC(exp10, X, (x))
DOUBLE_INTRINSIC(log2, X, (x))
DOUBLE_LIBRARY(expm1, X, (x))
DOUBLE_LIBRARY(log1p, X, (x))
DOUBLE_LIBRARY(erf, X, (x))
DOUBLE_LIBRARY(erfc, X, (x))
DOUBLE_LIBRARY(cbrt, X, (x))
DOUBLE_LIBRARY(hypot, XY, (x, y))

INTRINSIC(sqrt, X, (x))
INTRINSIC(fabs, X, (x))
INTRINSIC(floor, X, (x))
INTRINSIC(ceil, X, (x))
INTRINSIC(trunc, X, (x))
INTRINSIC(round, X, (x))
INTRINSIC(rint, X, (x))
INTRINSIC(nearbyint, X, (x))
BOTH(fmin, XY, __builtin_fminimum_num(x, y), __builtin_fminimum_numf(x, y))  // of two zeros -0 is the less, as on GPUs
BOTH(fmax, XY, __builtin_fmaximum_num(x, y), __builtin_fmaximum_numf(x, y))
INTRINSIC(copysign, XY, (x, y))
INTRINSIC(fma, XYZ, (x, y, z))
INTRINSIC(ldexp, XN, (x, n))
BOTH(scalbn, XN, __builtin_ldexp(x, n), __builtin_ldexpf(x, n))
BOTH(powi, XN, __nv_pow(x, (double)n), (float)__nv_pow((double)x, (double)n))

LIBRARY(logb, X, (x))
LIBRARY(acosh, X, (x))
LIBRARY(asinh, X, (x))
LIBRARY(atanh, X, (x))
LIBRARY(fdim, XY, (x, y))
LIBRARY(nextafter, XY, (x, y))
LIBRARY(modf, X_TO_Y, (x, y))
THROUGH_DOUBLE(lgamma, X, (x), ((double)x))

/// The exponent; INT_MIN for 0 and NaN, INT_MAX for infinities ("CUDA Math API, ilogb").
NV int __nv_ilogb(double x) {
  const double magnitude = __builtin_fabs(x);
  if (magnitude == 0 || is_nan(x)) return -2147483647 - 1;
  if (!is_finite(x)) return 2147483647;
  const unsigned long long fraction = bits(magnitude);
  const int exponent = (int)(fraction >> 52);
  return exponent ? exponent - 1023 : -1011 - __builtin_clzll(fraction);
}
NV int __nv_ilogbf(float x) {
  return __nv_ilogb((double)x);
}

/// x = result * 2^*exponent with the result in [1/2, 1); 0, infinities and NaN as they are, with 0.
NV double __nv_frexp(double x, int* exponent) {
  const bool denormal = __builtin_fabs(x) < 0x1p-1022;
  const unsigned long long word = bits(denormal ? x * 0x1p54 : x);
  const bool special = x == 0 || !is_finite(x);
  *exponent = special ? 0 : (int)(word >> 52 & 0x7ff) - (denormal ? 1076 : 1022);
  return special ? x : from_bits((word & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
NV float __nv_frexpf(float x, int* exponent) {
  const bool denormal = __builtin_fabsf(x) < 0x1p-126f;
  const unsigned int word = bits(denormal ? x * 0x1p25f : x);
  const bool special = x == 0 || !is_finite(x);
  *exponent = special ? 0 : (int)(word >> 23 & 0xff) - (denormal ? 151 : 126);
  return special ? x : from_bits((word & 0x807fffffu) | 0x3f000000u);
}

/// A question about a number; the two precisions' names have no rule.
#define QUESTION(name, name_f, answer, answer_f) \
  NV int __nv_##name(double x) {                 \
    return answer;                               \
  }                                              \
  NV int __nv_##name_f(float x) {                \
    return answer_f;                             \
  }
QUESTION(signbitd, signbitf, (int)(bits(x) >> 63), (int)(bits(x) >> 31))
QUESTION(isnand, isnanf, is_nan(x), is_nan(x))
QUESTION(isinfd, isinff, is_infinite(x), is_infinite((double)x))
QUESTION(isfinited, finitef, is_finite(x), is_finite(x))

// The tag chooses nothing: CUDA lets it be ignored.
NV double __nv_nan(const signed char*) {
  return __builtin_nan("");
}
NV float __nv_nanf(const signed char*) {
  return __builtin_nanf("");
}

// The fast variants may be less exact; here only the power is, whose definition (2 to the y log2 x) gives NaN below 0.
#define FAST(name)                        \
  NV float __nv_fast_##name##f(float x) { \
    return __nv_##name##f(x);             \
  }
FAST(sin)
FAST(cos)
FAST(tan)
FAST(exp)
FAST(exp10)
FAST(log)
FAST(log2)
FAST(log10)
FAST(tanh)
NV void __nv_fast_sincosf(float x, float* sine, float* cosine) {
  __nv_sincosf(x, sine, cosine);
}
NV float __nv_fast_powf(float x, float y) {
  return __nv_exp2f(y * __nv_log2f(x));
}
NV float __nv_fast_fdividef(float x, float y) {
  return approximate_quotient(x, y);
}

NV float __nv_saturatef(float x) {
  return x >= 1 ? 1.0f : x > 0 ? x : 0.0f;
}
/// 1/x with the low word of the result zero.
NV double __nv_rcp64h(double x) {
  return from_bits(bits(1 / x) & 0xffffffff00000000ull);
}

#undef X
#undef XY
#undef XYZ
#undef NX
#undef XN
#undef X_TO_Y
