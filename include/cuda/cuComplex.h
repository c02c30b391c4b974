#pragma once

// Complex numbers as pairs: cuComplex is float, cuDoubleComplex double.

#include <math.h>

#include "vector_functions.h"
#include "vector_types.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#define CUPOLA_COMPLEX static __inline__ __host__ __device__ __attribute__((unused))

// Division scales by the larger part of the divisor, and abs by the larger part, so that neither overflows half-way.
#define CUPOLA_COMPLEX_FUNCTIONS(complex, real, suffix, make, f)                                     \
  CUPOLA_COMPLEX real cuCreal##suffix(complex x) { return x.x; }                                     \
  CUPOLA_COMPLEX real cuCimag##suffix(complex x) { return x.y; }                                     \
  CUPOLA_COMPLEX complex make(real r, real i) {                                                      \
    complex x;                                                                                       \
    x.x = r;                                                                                         \
    x.y = i;                                                                                         \
    return x;                                                                                        \
  }                                                                                                  \
  CUPOLA_COMPLEX complex cuConj##suffix(complex x) { return make(x.x, -x.y); }                       \
  CUPOLA_COMPLEX complex cuCadd##suffix(complex x, complex y) { return make(x.x + y.x, x.y + y.y); } \
  CUPOLA_COMPLEX complex cuCsub##suffix(complex x, complex y) { return make(x.x - y.x, x.y - y.y); } \
  CUPOLA_COMPLEX complex cuCmul##suffix(complex x, complex y) {                                      \
    return make(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);                                       \
  }                                                                                                  \
  CUPOLA_COMPLEX complex cuCdiv##suffix(complex x, complex y) {                                      \
    const real scale = 1 / (fabs##f(y.x) + fabs##f(y.y));                                            \
    const real xr = x.x * scale, xi = x.y * scale, yr = y.x * scale, yi = y.y * scale;               \
    const real norm = 1 / (yr * yr + yi * yi);                                                       \
    return make((xr * yr + xi * yi) * norm, (xi * yr - xr * yi) * norm);                             \
  }                                                                                                  \
  CUPOLA_COMPLEX real cuCabs##suffix(complex x) { return hypot##f(x.x, x.y); }                       \
  CUPOLA_COMPLEX complex cuCfma##suffix(complex x, complex y, complex z) {                           \
    return make(x.x * y.x - x.y * y.y + z.x, x.x * y.y + x.y * y.x + z.y);                           \
  }
CUPOLA_COMPLEX_FUNCTIONS(cuFloatComplex, float, f, make_cuFloatComplex, f)
CUPOLA_COMPLEX_FUNCTIONS(cuDoubleComplex, double, , make_cuDoubleComplex, )
#undef CUPOLA_COMPLEX_FUNCTIONS

CUPOLA_COMPLEX cuComplex make_cuComplex(float r, float i) { return make_cuFloatComplex(r, i); }
CUPOLA_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) { return make_cuDoubleComplex(x.x, x.y); }
CUPOLA_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
  return make_cuFloatComplex((float)x.x, (float)x.y);
}
#undef CUPOLA_COMPLEX
