#pragma once

// Overloads that CUDA adds to <cmath>'s in the global namespace, for host and device code: min and max of all
// arithmetic types, float versions of the functions <cmath> lacks ("CUDA Math API"), and the host versions of those
// functions.

#pragma push_macro("CUPOLA_DEVICE")
#pragma push_macro("CUPOLA_BOTH")
#define CUPOLA_DEVICE static __device__ __inline__ __attribute__((always_inline, unused))
#define CUPOLA_BOTH static __host__ __device__ __inline__ __attribute__((always_inline, unused))
#define CUPOLA_HOST static __host__ __inline__ __attribute__((unused))

// clang's header has the device version of the int overload.
#ifndef __CUDACC_RTC__
CUPOLA_HOST int min(int a, int b) { return a < b ? a : b; }
CUPOLA_HOST int max(int a, int b) { return a > b ? a : b; }
#endif

#define CUPOLA_MIN_MAX(result, left, right)                                                         \
  CUPOLA_BOTH result min(left a, right b) { return (result)a < (result)b ? (result)a : (result)b; } \
  CUPOLA_BOTH result max(left a, right b) { return (result)a > (result)b ? (result)a : (result)b; }
CUPOLA_MIN_MAX(unsigned int, unsigned int, unsigned int)
CUPOLA_MIN_MAX(unsigned int, int, unsigned int)
CUPOLA_MIN_MAX(unsigned int, unsigned int, int)
CUPOLA_MIN_MAX(long, long, long)
CUPOLA_MIN_MAX(unsigned long, unsigned long, unsigned long)
CUPOLA_MIN_MAX(unsigned long, long, unsigned long)
CUPOLA_MIN_MAX(unsigned long, unsigned long, long)
CUPOLA_MIN_MAX(long long, long long, long long)
CUPOLA_MIN_MAX(unsigned long long, unsigned long long, unsigned long long)
CUPOLA_MIN_MAX(unsigned long long, long long, unsigned long long)
CUPOLA_MIN_MAX(unsigned long long, unsigned long long, long long)
#undef CUPOLA_MIN_MAX

#define CUPOLA_MIN_MAX(result, left, right)                                        \
  CUPOLA_BOTH result min(left a, right b) { return (result)__builtin_fmin(a, b); } \
  CUPOLA_BOTH result max(left a, right b) { return (result)__builtin_fmax(a, b); }
CUPOLA_BOTH float min(float a, float b) { return __builtin_fminf(a, b); }
CUPOLA_BOTH float max(float a, float b) { return __builtin_fmaxf(a, b); }
CUPOLA_MIN_MAX(double, double, double)
CUPOLA_MIN_MAX(double, float, double)
CUPOLA_MIN_MAX(double, double, float)
#undef CUPOLA_MIN_MAX

// Host versions of functions that CUDA adds to the C library's.
#ifndef __CUDACC_RTC__
CUPOLA_HOST float rsqrtf(float x) { return 1.0f / sqrtf(x); }
CUPOLA_HOST double rsqrt(double x) { return 1.0 / sqrt(x); }
CUPOLA_HOST float rcbrtf(float x) { return 1.0f / cbrtf(x); }
CUPOLA_HOST double rcbrt(double x) { return 1.0 / cbrt(x); }
CUPOLA_HOST double sinpi(double x) {
  const double r = fmod(x, 2.0), t = fabs(r) <= 0.5 ? r : copysign(1.0, r) * (fabs(r) <= 1.5 ? 1.0 : 2.0) - r;
  return fabs(r) > 1.5 ? -sin(M_PI * t) : sin(M_PI * t);
}
CUPOLA_HOST double cospi(double x) {
  const double r = fmod(fabs(x), 2.0);
  return r <= 0.25   ? cos(M_PI * r)
         : r < 0.75  ? sin(M_PI * (0.5 - r))
         : r <= 1.25 ? -cos(M_PI * (1.0 - r))
         : r < 1.75  ? sin(M_PI * (r - 1.5))
                     : cos(M_PI * (2.0 - r));
}
CUPOLA_HOST float sinpif(float x) { return (float)sinpi((double)x); }
CUPOLA_HOST float cospif(float x) { return (float)cospi((double)x); }
CUPOLA_HOST void sincospi(double x, double* sine, double* cosine) { *sine = sinpi(x), *cosine = cospi(x); }
CUPOLA_HOST void sincospif(float x, float* sine, float* cosine) { *sine = sinpif(x), *cosine = cospif(x); }
CUPOLA_HOST double normcdf(double x) { return 0.5 * erfc(-x * M_SQRT1_2); }
CUPOLA_HOST float normcdff(float x) { return (float)normcdf((double)x); }
CUPOLA_HOST double rhypot(double x, double y) { return 1.0 / hypot(x, y); }
CUPOLA_HOST float rhypotf(float x, float y) { return 1.0f / hypotf(x, y); }
CUPOLA_HOST double norm3d(double x, double y, double z) { return hypot(hypot(x, y), z); }
CUPOLA_HOST float norm3df(float x, float y, float z) { return (float)norm3d(x, y, z); }
CUPOLA_HOST double norm4d(double x, double y, double z, double w) { return hypot(hypot(x, y), hypot(z, w)); }
CUPOLA_HOST float norm4df(float x, float y, float z, float w) { return (float)norm4d(x, y, z, w); }
CUPOLA_HOST double rnorm3d(double x, double y, double z) { return 1.0 / norm3d(x, y, z); }
CUPOLA_HOST float rnorm3df(float x, float y, float z) { return (float)rnorm3d(x, y, z); }
CUPOLA_HOST double fdivide(double x, double y) { return x / y; }
CUPOLA_HOST float fdividef(float x, float y) { return x / y; }
CUPOLA_HOST unsigned int umin(unsigned int a, unsigned int b) { return a < b ? a : b; }
CUPOLA_HOST unsigned int umax(unsigned int a, unsigned int b) { return a > b ? a : b; }
CUPOLA_HOST long long llmin(long long a, long long b) { return a < b ? a : b; }
CUPOLA_HOST long long llmax(long long a, long long b) { return a > b ? a : b; }
CUPOLA_HOST unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
CUPOLA_HOST unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a > b ? a : b; }
#endif

// float overloads of the double names; sinpi(x) and the like take both in CUDA C++. An integer argument means double.
#define CUPOLA_FLOAT_1(name) \
  CUPOLA_DEVICE float name(float x) { return name##f(x); }
CUPOLA_FLOAT_1(rsqrt)
CUPOLA_FLOAT_1(rcbrt)
CUPOLA_FLOAT_1(sinpi)
CUPOLA_FLOAT_1(cospi)
CUPOLA_FLOAT_1(erfinv)
CUPOLA_FLOAT_1(erfcinv)
CUPOLA_FLOAT_1(erfcx)
CUPOLA_FLOAT_1(normcdf)
CUPOLA_FLOAT_1(normcdfinv)
CUPOLA_FLOAT_1(exp10)
CUPOLA_FLOAT_1(j0)
CUPOLA_FLOAT_1(j1)
CUPOLA_FLOAT_1(y0)
CUPOLA_FLOAT_1(y1)
CUPOLA_FLOAT_1(cyl_bessel_i0)
CUPOLA_FLOAT_1(cyl_bessel_i1)
// Float overloads of <cmath> that clang's headers declare and leave to CUDA's.
#define CUPOLA_FLOAT_2(name) \
  CUPOLA_DEVICE float name(float x, float y) { return name##f(x, y); }
CUPOLA_FLOAT_1(acosh)
CUPOLA_FLOAT_1(asinh)
CUPOLA_FLOAT_1(atanh)
CUPOLA_FLOAT_1(cbrt)
CUPOLA_FLOAT_1(erf)
CUPOLA_FLOAT_1(erfc)
CUPOLA_FLOAT_1(exp2)
CUPOLA_FLOAT_1(expm1)
CUPOLA_FLOAT_1(lgamma)
CUPOLA_FLOAT_1(log1p)
CUPOLA_FLOAT_1(log2)
CUPOLA_FLOAT_1(logb)
CUPOLA_FLOAT_1(nearbyint)
CUPOLA_FLOAT_1(rint)
CUPOLA_FLOAT_1(round)
CUPOLA_FLOAT_1(tgamma)
CUPOLA_FLOAT_1(trunc)
CUPOLA_FLOAT_2(copysign)
CUPOLA_FLOAT_2(fdim)
CUPOLA_FLOAT_2(fmax)
CUPOLA_FLOAT_2(fmin)
CUPOLA_FLOAT_2(hypot)
CUPOLA_FLOAT_2(nextafter)
CUPOLA_FLOAT_2(remainder)
#undef CUPOLA_FLOAT_2
CUPOLA_DEVICE float fma(float x, float y, float z) { return fmaf(x, y, z); }
CUPOLA_DEVICE float remquo(float x, float y, int* quotient) { return remquof(x, y, quotient); }
CUPOLA_DEVICE float scalbn(float x, int n) { return scalbnf(x, n); }
CUPOLA_DEVICE float scalbln(float x, long n) { return scalblnf(x, n); }
CUPOLA_DEVICE int ilogb(float x) { return ilogbf(x); }
CUPOLA_DEVICE long lrint(float x) { return lrintf(x); }
CUPOLA_DEVICE long lround(float x) { return lroundf(x); }
CUPOLA_DEVICE long long llrint(float x) { return llrintf(x); }
CUPOLA_DEVICE long long llround(float x) { return llroundf(x); }
#undef CUPOLA_FLOAT_1
#ifndef __CUDACC_RTC__
CUPOLA_HOST float rsqrt(float x) { return rsqrtf(x); }
CUPOLA_HOST float rcbrt(float x) { return rcbrtf(x); }
CUPOLA_HOST float sinpi(float x) { return sinpif(x); }
CUPOLA_HOST float cospi(float x) { return cospif(x); }
CUPOLA_HOST float normcdf(float x) { return normcdff(x); }
#endif

#define CUPOLA_INTEGER_1(name)                                                                              \
  template <typename T>                                                                                     \
  CUPOLA_BOTH typename __clang_cuda_enable_if<std::numeric_limits<T>::is_integer, double>::type name(T x) { \
    return name((double)x);                                                                                 \
  }
CUPOLA_INTEGER_1(rsqrt)
CUPOLA_INTEGER_1(rcbrt)
CUPOLA_INTEGER_1(sinpi)
CUPOLA_INTEGER_1(cospi)
#undef CUPOLA_INTEGER_1

CUPOLA_DEVICE void sincos(float x, float* sine, float* cosine) { sincosf(x, sine, cosine); }
CUPOLA_DEVICE void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
#ifndef __CUDACC_RTC__
CUPOLA_HOST void sincos(float x, float* sine, float* cosine) { *sine = sinf(x), *cosine = cosf(x); }
CUPOLA_HOST void sincospi(float x, float* sine, float* cosine) { sincospif(x, sine, cosine); }
#endif
CUPOLA_BOTH float fdivide(float x, float y) { return fdividef(x, y); }
CUPOLA_DEVICE float rhypot(float x, float y) { return rhypotf(x, y); }
CUPOLA_DEVICE float jn(int n, float x) { return jnf(n, x); }
CUPOLA_DEVICE float yn(int n, float x) { return ynf(n, x); }

CUPOLA_DEVICE double nan(const char* tag) { return __nv_nan((const signed char*)tag); }
CUPOLA_DEVICE float nanf(const char* tag) { return __nv_nanf((const signed char*)tag); }
CUPOLA_DEVICE int finite(double x) { return __isfinited(x); }
CUPOLA_DEVICE int finitef(float x) { return __finitef(x); }
CUPOLA_DEVICE int __signbit(double x) { return __signbitd(x); }
CUPOLA_DEVICE float __tanhf(float x) { return tanhf(x); }

// Names from before the intrinsics had underscores.
CUPOLA_DEVICE int mulhi(int a, int b) { return __mulhi(a, b); }
CUPOLA_DEVICE unsigned int mulhi(unsigned int a, unsigned int b) { return __umulhi(a, b); }
CUPOLA_DEVICE int mul24(int a, int b) { return __mul24(a, b); }
CUPOLA_DEVICE unsigned int umul24(unsigned int a, unsigned int b) { return __umul24(a, b); }
CUPOLA_DEVICE int float_as_int(float x) { return __float_as_int(x); }
CUPOLA_DEVICE float int_as_float(int x) { return __int_as_float(x); }
CUPOLA_DEVICE unsigned int float_as_uint(float x) { return __float_as_uint(x); }
CUPOLA_DEVICE float uint_as_float(unsigned int x) { return __uint_as_float(x); }
CUPOLA_DEVICE float saturate(float x) { return __saturatef(x); }

#undef CUPOLA_HOST
#pragma pop_macro("CUPOLA_BOTH")
#pragma pop_macro("CUPOLA_DEVICE")
