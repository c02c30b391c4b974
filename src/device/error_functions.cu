#include "elementary.h"

// Error functions of float (elementary.h has the method, and what the numbers of ulps are).

using namespace cupola::device;

namespace {

/// exp(x^2) erfc(x), 0 <= x < 10.2. (1 + 2 x) of it hardly changes; in t = (x - 2)/(x + 2) it is a polynomial. 2^-25
LOCAL float scaled_complement(float x) {
  const float t = (x - 2) / (x + 2);
  return polynomial(t, 0x1.46e80ep+0f, -0x1.7bf63ep-4f, -0x1.54079p-3f, 0x1.4ffd66p-3f, -0x1.bc25a2p-5f, -0x1.087e5p-7f,
                    0x1.1c1858p-7f, 0x1.6073a8p-10f, -0x1.4be4bp-10f, -0x1.c4316ep-12f) /
         fused(2.0f, x, 1.0f);
}

/// factor * exp(-x^2 scale), where scale is a power of two; the square's rounding error is put right.
LOCAL float times_gauss(float factor, float x, float scale) {
  const float square = x * x, lost = fused(x, x, -square);
  const Exponential power = exponential(-square * scale);
  const float value = fused(power.value, -lost * scale, power.value);
  return times_power(value * factor, power.whole);
}

}  // namespace

/// 1.02 ulp. Above 1: 1 - exp(log erfc x).
ELEMENTARY float __nv_erff(float x) {
  const float magnitude = within(__builtin_fabsf(x), 0.0f, 3.93f), square = magnitude * magnitude;
  const float small = fused(polynomial(square, 0x1.06eba8p-3f, -0x1.81273ep-2f, 0x1.ce2ce6p-4f, -0x1.b7f71ap-6f,
                                       0x1.53f224p-8f, -0x1.a3515ep-11f, 0x1.4771fcp-14f),  // 2^-29
                            magnitude, magnitude);
  const float logarithm = polynomial(magnitude, -0x1.66366p-12f, -0x1.2088e4p+0f, -0x1.46bb04p-1f, -0x1.a65284p-4f,
                                     0x1.65c9dp-6f, -0x1.825714p-9f, 0x1.86d5f6p-13f);  // 2^-29
  const Exponential power = exponential(logarithm);
  const float large = fused(-power.value, from_bits((power.whole - 127) << 23), 1.0f);
  return __builtin_copysignf(magnitude < 1 ? small : large, x);
}
/// 4.15 ulp.
ELEMENTARY float __nv_erfcf(float x) {
  const float magnitude = within(__builtin_fabsf(x), 0.0f, 10.1f);
  const float tail = times_gauss(scaled_complement(magnitude), magnitude, 1.0f);
  return x < 0 ? 2 - tail : tail;
}
/// 4.12 ulp. erfc(-x / sqrt 2) / 2.
ELEMENTARY float __nv_normcdff(float x) {
  const float magnitude = within(__builtin_fabsf(x), 0.0f, 14.4f);
  const float tail = times_gauss(0.5f * scaled_complement(magnitude * 0x1.6a09e6p-1f), magnitude, 0.5f);
  return x > 0 ? 1 - tail : tail;
}
