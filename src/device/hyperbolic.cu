#include "elementary.h"

// Hyperbolic functions of float (elementary.h has the method, and what the numbers of ulps are).

using namespace cupola::device;

/// 1.35 ulp.
ELEMENTARY float __nv_tanhf(float x) {
  const float magnitude = __builtin_fabsf(x), square = x * x;
  const float small = fused(
      polynomial(square, -0x1.555532p-2f, 0x1.1106f6p-3f, -0x1.b835a4p-5f, 0x1.51f8cep-6f, -0x1.750cfp-8f),  // 2^-27
      square * magnitude, magnitude);
  const Exponential power = exponential(within(2 * magnitude, 0.0f, 40.0f));
  const float large = 1 - 2 / (power.value * from_bits((power.whole - 127) << 23) + 1);
  return __builtin_copysignf(magnitude < 0.625f ? small : large, x);
}
/// 1.60 ulp.
ELEMENTARY float __nv_sinhf(float x) {
  const float magnitude = __builtin_fabsf(x), square = x * x;
  const float small =
      fused(polynomial(square, 0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a022bcp-13f, 0x1.756c1ep-19f),  // 2^-31
            square * magnitude, magnitude);
  const Exponential power = exponential(within(magnitude, 0.0f, 91.0f));
  const float half = times_power(power.value, power.whole - 1);
  return __builtin_copysignf(magnitude < 1 ? small : half - 0.25f / half, x);
}
/// 1.31 ulp.
ELEMENTARY float __nv_coshf(float x) {
  const Exponential power = exponential(within(__builtin_fabsf(x), 0.0f, 91.0f));
  const float half = times_power(power.value, power.whole - 1);
  return half + 0.25f / half;
}
