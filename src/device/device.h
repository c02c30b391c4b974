#pragma once

// The device library: what clang's CUDA headers call __nv_*. One file a family; all are compiled to kir and linked into
// build/lib/cupola/device.bc, from which a program's kernels take what they call.
//
// The elementary functions of float are our own, as straight-line code, which becomes SIMD code where a warp runs in
// step (elementary.h). Other functions bottom out in LLVM's target-independent intrinsics (through clang's builtins) or
// in the functions of the C library that src/image/library_calls.def lists. What the C library lacks is implemented
// here, with its error bound at the function; bounds are in units in the last place, against the exact value, and never
// wider than CUDA documents ("CUDA C++ Programming Guide, Mathematical Functions").
//
// The files are plain C++ without contraction (-ffp-contract=off), so that the test beside them compiles the same text
// for the host.

#if defined(__CUDA__)
#define __device__ __attribute__((device))
#define DEVICE __device__
#define COMPUTES_WITH_DENORMALS __attribute__((section("elementary")))
#else
#define DEVICE
#define COMPUTES_WITH_DENORMALS
#define __DEVICE__
#endif
/// A function of the library.
#define NV extern "C" DEVICE
/// A function that only this file needs.
#define LOCAL static inline __attribute__((always_inline)) DEVICE
/// A function of the library that computes with denormals even where its caller flushes them: of that caller only
/// arguments and results are flushed (src/kir/passes.h).
#define ELEMENTARY extern "C" DEVICE COMPUTES_WITH_DENORMALS
/// A part of such a function, long and rarely called: never part of its caller.
#define SLOW static __attribute__((noinline)) DEVICE COMPUTES_WITH_DENORMALS
/// Behind a lambda's parameters.
#define INLINE __attribute__((always_inline))

// clang's declarations check ours; the SIMD-in-word functions are declared for this version only.
#define CUDA_VERSION 9010
#include <__clang_cuda_libdevice_declares.h>
#undef __DEVICE__

namespace cupola::device {

LOCAL unsigned int bits(float x) {
  return __builtin_bit_cast(unsigned int, x);
}
LOCAL unsigned long long bits(double x) {
  return __builtin_bit_cast(unsigned long long, x);
}
LOCAL float from_bits(unsigned int x) {
  return __builtin_bit_cast(float, x);
}
LOCAL double from_bits(unsigned long long x) {
  return __builtin_bit_cast(double, x);
}

LOCAL bool is_nan(float x) {
  return x != x;
}
LOCAL bool is_nan(double x) {
  return x != x;
}
LOCAL bool is_finite(float x) {
  return (bits(x) & 0x7fffffffu) < 0x7f800000u;
}
LOCAL bool is_finite(double x) {
  return (bits(x) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull;
}
LOCAL bool is_infinite(double x) {
  return (bits(x) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull;
}

/// Wrong by 2 units in the last place at the most, as the device's own instruction is: x/y, 1/sqrt(x).
#if defined(__CUDA__)
LOCAL float approximate_quotient(float x, float y) {
  return __nvvm_div_approx_f(x, y);
}
LOCAL float approximate_inverse_root(float x) {
  return __nvvm_rsqrt_approx_f(x);
}
#else
LOCAL float approximate_quotient(float x, float y) {
  return x / y;
}
LOCAL float approximate_inverse_root(float x) {
  return 1 / __builtin_sqrtf(x);
}
#endif

inline constexpr double kPi = 3.141592653589793116, kPiLow = 1.2246467991473532072e-16;
inline constexpr double kInfinity = __builtin_inf();

/// An unevaluated sum, high + low with |low| at most half an ulp of high: about 106 bits.
struct Pair {
  double high, low;
};

/// a + b exactly, if |a| >= |b| (Dekker).
LOCAL Pair fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}
/// a + b exactly (Knuth), barring overflow.
LOCAL Pair two_sum(double a, double b) {
  const double sum = a + b, part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}
/// a * b exactly, barring overflow and underflow.
LOCAL Pair two_product(double a, double b) {
  const double product = a * b;
  return {product, __builtin_fma(a, b, -product)};
}
LOCAL Pair operator+(Pair a, Pair b) {
  const Pair sum = two_sum(a.high, b.high);
  return fast_two_sum(sum.high, sum.low + (a.low + b.low));
}
LOCAL Pair operator*(Pair a, Pair b) {
  const Pair product = two_product(a.high, b.high);
  return fast_two_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}
LOCAL Pair operator/(Pair a, double b) {
  const double quotient = a.high / b;
  return fast_two_sum(quotient, (__builtin_fma(-quotient, b, a.high) + a.low) / b);
}

}  // namespace cupola::device
