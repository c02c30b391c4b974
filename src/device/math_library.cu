#include "device.h"

// Functions that are one LLVM intrinsic or one function of the C library. Accuracy is the C library's, within CUDA's
// bounds.

using namespace cupola::device;

extern "C" {
DEVICE double cbrt(double), erf(double), erfc(double), expm1(double), log1p(double), logb(double), tgamma(double),
    lgamma(double), acosh(double), asinh(double), atanh(double), j0(double), j1(double), y0(double), y1(double);
DEVICE float cbrtf(float), erff(float), erfcf(float), expm1f(float), log1pf(float), logbf(float), acoshf(float),
    asinhf(float), atanhf(float);
DEVICE double jn(int, double), yn(int, double);
DEVICE double hypot(double, double), fdim(double, double), nextafter(double, double), remainder(double, double),
    remquo(double, double, int*), frexp(double, int*), modf(double, double*);
DEVICE float hypotf(float, float), fdimf(float, float), nextafterf(float, float), remainderf(float, float),
    remquof(float, float, int*), frexpf(float, int*), modff(float, float*);
}

#define BUILTIN_1(name)              \
  NV double __nv_##name(double x) {  \
    return __builtin_##name(x);      \
  }                                  \
  NV float __nv_##name##f(float x) { \
    return __builtin_##name##f(x);   \
  }
#define BUILTIN_2(name)                       \
  NV double __nv_##name(double x, double y) { \
    return __builtin_##name(x, y);            \
  }                                           \
  NV float __nv_##name##f(float x, float y) { \
    return __builtin_##name##f(x, y);         \
  }
#define LIBRARY_1(name)              \
  NV double __nv_##name(double x) {  \
    return name(x);                  \
  }                                  \
  NV float __nv_##name##f(float x) { \
    return name##f(x);               \
  }
#define LIBRARY_2(name)                       \
  NV double __nv_##name(double x, double y) { \
    return name(x, y);                        \
  }                                           \
  NV float __nv_##name##f(float x, float y) { \
    return name##f(x, y);                     \
  }
// The C library's float version is less exact than CUDA's bound: round the double one.
#define THROUGH_DOUBLE_1(name)       \
  NV double __nv_##name(double x) {  \
    return name(x);                  \
  }                                  \
  NV float __nv_##name##f(float x) { \
    return (float)name((double)x);   \
  }

BUILTIN_1(sin)
BUILTIN_1(cos)
BUILTIN_1(tan)
BUILTIN_1(asin)
BUILTIN_1(acos)
BUILTIN_1(atan)
BUILTIN_1(sinh)
BUILTIN_1(cosh)
BUILTIN_1(tanh)
BUILTIN_1(exp)
BUILTIN_1(exp2)
BUILTIN_1(exp10)
BUILTIN_1(log)
BUILTIN_1(log2)
BUILTIN_1(log10)
BUILTIN_1(sqrt)
BUILTIN_1(fabs)
BUILTIN_1(floor)
BUILTIN_1(ceil)
BUILTIN_1(trunc)
BUILTIN_1(round)
BUILTIN_1(rint)
BUILTIN_1(nearbyint)
BUILTIN_2(pow)
BUILTIN_2(atan2)
BUILTIN_2(fmod)
BUILTIN_2(fmin)
BUILTIN_2(fmax)
BUILTIN_2(copysign)
LIBRARY_1(cbrt)
LIBRARY_1(erf)
LIBRARY_1(erfc)
LIBRARY_1(expm1)
LIBRARY_1(log1p)
LIBRARY_1(logb)
LIBRARY_1(acosh)
LIBRARY_1(asinh)
LIBRARY_1(atanh)
LIBRARY_2(hypot)
LIBRARY_2(fdim)
LIBRARY_2(nextafter)
LIBRARY_2(remainder)
THROUGH_DOUBLE_1(tgamma)
THROUGH_DOUBLE_1(lgamma)
THROUGH_DOUBLE_1(j0)
THROUGH_DOUBLE_1(j1)
THROUGH_DOUBLE_1(y0)
THROUGH_DOUBLE_1(y1)

NV double __nv_fma(double x, double y, double z) {
  return __builtin_fma(x, y, z);
}
NV float __nv_fmaf(float x, float y, float z) {
  return __builtin_fmaf(x, y, z);
}

NV double __nv_jn(int n, double x) {
  return jn(n, x);
}
NV float __nv_jnf(int n, float x) {
  return (float)jn(n, (double)x);
}
NV double __nv_yn(int n, double x) {
  return yn(n, x);
}
NV float __nv_ynf(int n, float x) {
  return (float)yn(n, (double)x);
}

NV double __nv_powi(double x, int n) {
  return __builtin_pow(x, (double)n);
}
NV float __nv_powif(float x, int n) {
  return (float)__builtin_pow((double)x, (double)n);
}

NV void __nv_sincos(double x, double* sine, double* cosine) {
  *sine = __builtin_sin(x), *cosine = __builtin_cos(x);
}
NV void __nv_sincosf(float x, float* sine, float* cosine) {
  *sine = __builtin_sinf(x), *cosine = __builtin_cosf(x);
}

NV double __nv_remquo(double x, double y, int* quotient) {
  return remquo(x, y, quotient);
}
NV float __nv_remquof(float x, float y, int* quotient) {
  return remquof(x, y, quotient);
}
NV double __nv_frexp(double x, int* exponent) {
  return frexp(x, exponent);
}
NV float __nv_frexpf(float x, int* exponent) {
  return frexpf(x, exponent);
}
NV double __nv_modf(double x, double* whole) {
  return modf(x, whole);
}
NV float __nv_modff(float x, float* whole) {
  return modff(x, whole);
}

NV double __nv_ldexp(double x, int n) {
  return __builtin_ldexp(x, n);
}
NV float __nv_ldexpf(float x, int n) {
  return __builtin_ldexpf(x, n);
}
NV double __nv_scalbn(double x, int n) {
  return __builtin_ldexp(x, n);
}
NV float __nv_scalbnf(float x, int n) {
  return __builtin_ldexpf(x, n);
}

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

NV int __nv_signbitd(double x) {
  return (int)(bits(x) >> 63);
}
NV int __nv_signbitf(float x) {
  return (int)(bits(x) >> 31);
}
NV int __nv_isnand(double x) {
  return is_nan(x);
}
NV int __nv_isnanf(float x) {
  return is_nan(x);
}
NV int __nv_isinfd(double x) {
  return is_infinite(x);
}
NV int __nv_isinff(float x) {
  return is_infinite((double)x);
}
NV int __nv_isfinited(double x) {
  return is_finite(x);
}
NV int __nv_finitef(float x) {
  return is_finite(x);
}
// The tag chooses nothing: CUDA lets it be ignored.
NV double __nv_nan(const signed char*) {
  return __builtin_nan("");
}
NV float __nv_nanf(const signed char*) {
  return __builtin_nanf("");
}

// The fast variants may be less exact; here only the power is, whose definition (2 to the y log2 x) gives NaN below 0.
NV float __nv_fast_sinf(float x) {
  return __builtin_sinf(x);
}
NV float __nv_fast_cosf(float x) {
  return __builtin_cosf(x);
}
NV float __nv_fast_tanf(float x) {
  return __builtin_tanf(x);
}
NV void __nv_fast_sincosf(float x, float* sine, float* cosine) {
  __nv_sincosf(x, sine, cosine);
}
NV float __nv_fast_expf(float x) {
  return __builtin_expf(x);
}
NV float __nv_fast_exp10f(float x) {
  return __builtin_exp10f(x);
}
NV float __nv_fast_logf(float x) {
  return __builtin_logf(x);
}
NV float __nv_fast_log2f(float x) {
  return __builtin_log2f(x);
}
NV float __nv_fast_log10f(float x) {
  return __builtin_log10f(x);
}
NV float __nv_fast_powf(float x, float y) {
  return __builtin_exp2f(y * __builtin_log2f(x));
}
NV float __nv_fast_fdividef(float x, float y) {
  return x / y;
}

NV float __nv_saturatef(float x) {
  return x >= 1 ? 1.0f : x > 0 ? x : 0.0f;
}
/// 1/x with the low word of the result zero.
NV double __nv_rcp64h(double x) {
  return from_bits(bits(1 / x) & 0xffffffff00000000ull);
}
