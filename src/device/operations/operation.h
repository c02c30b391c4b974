#pragma once

#include "../elementary.h"

// Operations of arrays (src/array/ufunc.def has their formulas and bounds): each is a template here, and functions
// __cupola_op_NAME_TYPE of the device library, which kernels made of expressions call. One file a category. Functions
// of mathematics are the library's own, by the overloads below.

/// A static function of a class.
#define LOCAL_MEMBER static inline __attribute__((always_inline)) DEVICE

namespace cupola::device::math {

#define MATH_X(name)            \
  LOCAL float name(float x) {   \
    return __nv_##name##f(x);   \
  }                             \
  LOCAL double name(double x) { \
    return __nv_##name(x);      \
  }
#define MATH_XY(name)                     \
  LOCAL float name(float x, float y) {    \
    return __nv_##name##f(x, y);          \
  }                                       \
  LOCAL double name(double x, double y) { \
    return __nv_##name(x, y);             \
  }
MATH_X(fabs)
MATH_X(floor)
MATH_X(ceil)
MATH_X(rint)
MATH_X(trunc)
MATH_X(sqrt)
MATH_X(exp)
MATH_X(exp2)
MATH_X(expm1)
MATH_X(log)
MATH_X(log2)
MATH_X(log10)
MATH_X(log1p)
MATH_X(cbrt)
MATH_X(sin)
MATH_X(cos)
MATH_X(tan)
MATH_X(asin)
MATH_X(acos)
MATH_X(atan)
MATH_X(sinh)
MATH_X(cosh)
MATH_X(tanh)
MATH_X(asinh)
MATH_X(acosh)
MATH_X(atanh)
MATH_X(sinpi)
MATH_X(cospi)
MATH_X(erf)
MATH_X(erfc)
MATH_X(normcdf)
MATH_X(tgamma)
MATH_X(lgamma)
MATH_XY(pow)
MATH_XY(atan2)
MATH_XY(hypot)
MATH_XY(fmod)
MATH_XY(copysign)
MATH_XY(fmax)
MATH_XY(fmin)
MATH_XY(nextafter)
#undef MATH_X
#undef MATH_XY

LOCAL float ldexp(float x, int exponent) {
  return __nv_ldexpf(x, exponent);
}
LOCAL double ldexp(double x, int exponent) {
  return __nv_ldexp(x, exponent);
}
LOCAL float frexp(float x, int* exponent) {
  return __nv_frexpf(x, exponent);
}
LOCAL double frexp(double x, int* exponent) {
  return __nv_frexp(x, exponent);
}
template <typename T>
LOCAL T fma(T x, T y, T z) {
  return fused(x, y, z);
}
LOCAL bool isinf(float x) {
  return __builtin_fabsf(x) == kInfinityF;
}
LOCAL bool isinf(double x) {
  return is_infinite(x);
}

}  // namespace cupola::device::math

namespace cupola::device {

template <typename T>
inline constexpr T kNan = (T)__builtin_nan("");
/// Of a number below this, half of its square is nothing beside it.
template <typename T>
inline constexpr T kNegligible = sizeof(T) == 4 ? (T)0x1p-26 : (T)0x1p-55;
template <typename T>
inline constexpr T kInfinite = (T)__builtin_inf();

/// What an operation and its fast variant have in common is written over one of these.
struct Precise {
  static constexpr bool kPrecise = true;
#define PRECISE(name)        \
  template <typename T>      \
  LOCAL_MEMBER T name(T x) { \
    return math::name(x);    \
  }
  PRECISE(exp)
  PRECISE(exp2)
  PRECISE(expm1)
  PRECISE(log)
  PRECISE(log1p)
  PRECISE(sin)
  PRECISE(cos)
  PRECISE(tan)
  PRECISE(sinpi)
  PRECISE(cospi)
  PRECISE(sqrt)
#undef PRECISE
  template <typename T>
  LOCAL_MEMBER T quotient(T x, T y) {
    return x / y;
  }
};

/// Of float: a GPU's approximate instructions, where the device has such.
struct Fast {
  static constexpr bool kPrecise = false;
  LOCAL_MEMBER float exp(float x) { return __nvvm_ex2_approx_f(x * 0x1.715476p+0f); }
  LOCAL_MEMBER float exp2(float x) { return __nvvm_ex2_approx_f(x); }
  LOCAL_MEMBER float expm1(float x) { return exp(x) - 1; }
  LOCAL_MEMBER float log(float x) { return __nvvm_lg2_approx_f(x) * 0x1.62e43p-1f; }
  LOCAL_MEMBER float log1p(float x) { return log(1 + x); }
  LOCAL_MEMBER float sin(float x) { return __nvvm_sin_approx_f(x); }
  LOCAL_MEMBER float cos(float x) { return __nvvm_cos_approx_f(x); }
  LOCAL_MEMBER float tan(float x) { return approximate_quotient(sin(x), cos(x)); }
  LOCAL_MEMBER float sinpi(float x) { return sin(half_turns(x)); }
  LOCAL_MEMBER float cospi(float x) { return cos(half_turns(x)); }
  LOCAL_MEMBER float sqrt(float x) { return __nvvm_sqrt_approx_f(x); }
  LOCAL_MEMBER float quotient(float x, float y) { return approximate_quotient(x, y); }

 private:
  /// The angle of x half turns, from -pi to pi.
  LOCAL_MEMBER float half_turns(float x) { return 0x1.921fb6p+1f * (x - 2 * __builtin_rintf(x * 0.5f)); }
};

}  // namespace cupola::device

// FLOATS(name, XY): the template `name` as functions of the library for both types of floats, with parameters of that
// shape; INTEGERS, NUMBERS: likewise. FAST(name, XY): that, and a fast variant of float; name<Precise> and name<Fast>.
#define X(T) (T x)
#define XY(T) (T x, T y)
#define XYZ(T) (T x, T y, T z)
#define WXYZ(T) (T w, T x, T y, T z)
#define VWXYZ(T) (T v, T w, T x, T y, T z)
#define PASS_X (x)
#define PASS_XY (x, y)
#define PASS_XYZ (x, y, z)
#define PASS_WXYZ (w, x, y, z)
#define PASS_VWXYZ (v, w, x, y, z)
#define OPERATION(name, variant, shape, T, suffix)             \
  extern "C" DEVICE T __cupola_op_##name##_##suffix shape(T) { \
    return name<variant> PASS_##shape;                         \
  }
#define FLOATS(name, shape)                 \
  OPERATION(name, float, shape, float, f32) \
  OPERATION(name, double, shape, double, f64)
#define INTEGERS(name, shape)                       \
  OPERATION(name, int, shape, int, i32)             \
  OPERATION(name, long long, shape, long long, i64) \
  OPERATION(name, unsigned int, shape, unsigned int, u32)
#define NUMBERS(name, shape) \
  FLOATS(name, shape)        \
  INTEGERS(name, shape)
#define FAST(name, shape)                      \
  OPERATION(name, Precise, shape, float, f32)  \
  OPERATION(name, Precise, shape, double, f64) \
  OPERATION(name, Fast, shape, float, fast_f32)

// FUNCTION(name): the function of the library of that name, of one float, as an operation; FAST_FUNCTION: with its fast
// variant.
#define FUNCTION(name)    \
  template <typename T>   \
  LOCAL T name(T x) {     \
    return math::name(x); \
  }                       \
  FLOATS(name, X)
#define FAST_FUNCTION(name)            \
  template <typename Math, typename T> \
  LOCAL T name(T x) {                  \
    return Math::name(x);              \
  }                                    \
  FAST(name, X)
