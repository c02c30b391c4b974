// The functions of the C library for PTX, where there is no C library: what generated code for the CPU takes from the
// host's (src/image/library_calls.def). They are libclc's (https://libclc.llvm.org, part of LLVM), whose functions have
// OpenCL's mangled names; lib/cupola/c_library.bc holds both. The kernel
// test of math functions, taken through PTX, passes with CUDA's bounds but for tgamma in f64, which is off by up to 200
// units in the last place. The Bessel functions are not among them.

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
#define TWO(name, mangled)                                                   \
  extern "C" DEVICE double clc_##name(double, double) __asm__(mangled "dd"); \
  extern "C" DEVICE float clc_##name##f(float, float) __asm__(mangled "ff"); \
  extern "C" DEVICE double name(double x, double y) {                        \
    return clc_##name(x, y);                                                 \
  }                                                                          \
  extern "C" DEVICE float name##f(float x, float y) {                        \
    return clc_##name##f(x, y);                                              \
  }

ONE(sin, "_Z3sin")
ONE(cos, "_Z3cos")
ONE(tan, "_Z3tan")
ONE(asin, "_Z4asin")
ONE(acos, "_Z4acos")
ONE(atan, "_Z4atan")
ONE(sinh, "_Z4sinh")
ONE(cosh, "_Z4cosh")
ONE(tanh, "_Z4tanh")
ONE(asinh, "_Z5asinh")
ONE(acosh, "_Z5acosh")
ONE(atanh, "_Z5atanh")
THROUGH_DOUBLE(exp, "_Z3exp")
THROUGH_DOUBLE(exp2, "_Z4exp2")
THROUGH_DOUBLE(exp10, "_Z5exp10")
ONE(expm1, "_Z5expm1")
ONE(log, "_Z3log")
ONE(log2, "_Z4log2")
ONE(log10, "_Z5log10")
ONE(log1p, "_Z5log1p")
ONE(logb, "_Z4logb")
ONE(cbrt, "_Z4cbrt")
ONE(erf, "_Z3erf")
ONE(erfc, "_Z4erfc")
ONE(lgamma, "_Z6lgamma")
TWO(pow, "_Z3pow")
TWO(atan2, "_Z5atan2")
TWO(fmod, "_Z4fmod")
TWO(hypot, "_Z5hypot")
TWO(fdim, "_Z4fdim")
TWO(nextafter, "_Z9nextafter")
TWO(remainder, "_Z9remainder")

// libclc gives +infinity for both zeros.

extern "C" DEVICE double clc_tgamma(double) __asm__("_Z6tgammad");
extern "C" DEVICE double tgamma(double x) {
  return x == 0 ? __builtin_copysign(__builtin_inf(), x) : clc_tgamma(x);
}
extern "C" DEVICE float tgammaf(float x) {
  return x == 0 ? __builtin_copysignf(__builtin_inff(), x) : (float)clc_tgamma(x);
}

// A result beside the value.

extern "C" DEVICE double clc_remquo(double, double, int*) __asm__("_Z6remquoddPi");
extern "C" DEVICE float clc_remquof(float, float, int*) __asm__("_Z6remquoffPi");
extern "C" DEVICE double remquo(double x, double y, int* quotient) {
  return clc_remquo(x, y, quotient);
}
extern "C" DEVICE float remquof(float x, float y, int* quotient) {
  return clc_remquof(x, y, quotient);
}
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
