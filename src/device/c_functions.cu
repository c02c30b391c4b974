// The functions of the C library for PTX and for libdevice.bc, where there is no C library: what generated code for the
// CPU takes from the host's (src/image/library_calls.def). They are libclc's (https://libclc.llvm.org, part of LLVM),
// whose functions have OpenCL's mangled names; lib/cupola/c_library.bc holds both. What libclc has with greater errors
// than CUDA allows, the device library has itself: the gamma function, powers, remainders, Bessel functions.

#define DEVICE __attribute__((device))

/// A function of one number, and its mangled name without the parameters.
#define ONE(name, mangled)                                           \
  extern "C" DEVICE double clc_##name(double) __asm__(mangled "d");  \
  extern "C" DEVICE float clc_##name##f(float) __asm__(mangled "f"); \
  extern "C" DEVICE double name(double x) {                          \
    return clc_##name(x);                                            \
  }                                                                  \
  extern "C" DEVICE float name##f(float x) {                         \
    return clc_##name##f(x);                                         \
  }
/// libclc's float function gives 0 where the result is a denormal.
#define THROUGH_DOUBLE(name, mangled)                               \
  extern "C" DEVICE double clc_##name(double) __asm__(mangled "d"); \
  extern "C" DEVICE double name(double x) {                         \
    return clc_##name(x);                                           \
  }                                                                 \
  extern "C" DEVICE float name##f(float x) {                        \
    return (float)clc_##name(x);                                    \
  }
/// libclc's double function gives +0 for -0.
#define ODD(name, mangled)                                           \
  extern "C" DEVICE double clc_##name(double) __asm__(mangled "d");  \
  extern "C" DEVICE float clc_##name##f(float) __asm__(mangled "f"); \
  extern "C" DEVICE double name(double x) {                          \
    return x == 0 ? x : clc_##name(x);                               \
  }                                                                  \
  extern "C" DEVICE float name##f(float x) {                         \
    return x == 0 ? x : clc_##name##f(x);                            \
  }
#define TWO(name, mangled)                                                   \
  extern "C" DEVICE double clc_##name(double, double) __asm__(mangled "dd"); \
  extern "C" DEVICE float clc_##name##f(float, float) __asm__(mangled "ff"); \
  extern "C" DEVICE double name(double x, double y) {                        \
    return clc_##name(x, y);                                                 \
  }                                                                          \
  extern "C" DEVICE float name##f(float x, float y) {                        \
    return clc_##name##f(x, y);                                              \
  }

ODD(sin, "_Z3sin")
ONE(cos, "_Z3cos")
ODD(tan, "_Z3tan")
ODD(asin, "_Z4asin")
ONE(acos, "_Z4acos")
ODD(atan, "_Z4atan")
ODD(sinh, "_Z4sinh")
ONE(cosh, "_Z4cosh")
ODD(tanh, "_Z4tanh")
ODD(asinh, "_Z5asinh")
ONE(acosh, "_Z5acosh")
ODD(atanh, "_Z5atanh")
THROUGH_DOUBLE(exp, "_Z3exp")
THROUGH_DOUBLE(exp2, "_Z4exp2")
THROUGH_DOUBLE(exp10, "_Z5exp10")
ODD(expm1, "_Z5expm1")
ONE(log, "_Z3log")
ONE(log2, "_Z4log2")
ONE(log10, "_Z5log10")
ODD(log1p, "_Z5log1p")
ONE(logb, "_Z4logb")
ODD(cbrt, "_Z4cbrt")
ODD(erf, "_Z3erf")
ONE(erfc, "_Z4erfc")
ONE(lgamma, "_Z6lgamma")
TWO(pow, "_Z3pow")
TWO(atan2, "_Z5atan2")
TWO(fmod, "_Z4fmod")
TWO(hypot, "_Z5hypot")
TWO(fdim, "_Z4fdim")
TWO(nextafter, "_Z9nextafter")

// A result beside the value.

extern "C" DEVICE double frexp(double x, int* exponent) {
  return __builtin_frexp(x, exponent);
}
extern "C" DEVICE float frexpf(float x, int* exponent) {
  return __builtin_frexpf(x, exponent);
}
extern "C" DEVICE double modf(double x, double* whole) {
  *whole = __builtin_trunc(x);
  return __builtin_copysign(__builtin_isinf(x) ? 0.0 : x - *whole, x);
}
extern "C" DEVICE float modff(float x, float* whole) {
  *whole = __builtin_truncf(x);
  return __builtin_copysignf(__builtin_isinf(x) ? 0.0f : x - *whole, x);
}
