#include "elementary.h"

// Roots of float (elementary.h has the method, and what the numbers of ulps are).

using namespace cupola::device;

namespace {

/// x^(-1/3) for positive normal numbers, in double with 40 bits: a linear start on the bits (3.5%), then x^(-1/3) is
/// r (1 - h)^(-1/3) with h = 1 - x r^3, by that series.
LOCAL double inverse_cube_root(float x) {
  const float start = from_bits(0x54a24000u - bits(x) / 3);
  const float lack = fused(-x * start, start * start, 1.0f);
  const double root = fused(start * lack, polynomial(lack, 1.0f / 3, 2.0f / 9, 14.0f / 81), start);
  const double left = fused(-root * root, root * (double)x, 1.0);
  return fused(root * left, polynomial(left, 1.0 / 3, 2.0 / 9), root);
}

struct Scaled {
  float value;
  bool small;
};
/// |x|, times 2^24 if it is denormal.
LOCAL Scaled scaled_magnitude(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool small = magnitude < 0x1p-126f;
  return {small ? magnitude * 0x1p24f : magnitude, small};
}

}  // namespace

/// 0.51 ulp.
ELEMENTARY float __nv_cbrtf(float x) {
  const Scaled from = scaled_magnitude(x);
  const double root = inverse_cube_root(from.value), value = root * root * (double)from.value;
  const float result = (float)value * (from.small ? 0x1p-8f : 1.0f);
  return x == 0 || !is_finite(x) ? x : __builtin_copysignf(result, x);
}
/// 0.51 ulp.
ELEMENTARY float __nv_rcbrtf(float x) {
  const Scaled from = scaled_magnitude(x);
  const float result = (float)inverse_cube_root(from.value) * (from.small ? 0x1p8f : 1.0f);
  return x == 0 || !is_finite(x) ? 1 / x : __builtin_copysignf(result, x);
}
/// 1.2 ulp. sqrt(x^2 + y^2), the squares within range: by the exponent of the larger.
ELEMENTARY float __nv_hypotf(float x, float y) {
  const float width = __builtin_fabsf(x), height = __builtin_fabsf(y);
  const bool steep = height > width;
  const float small = steep ? width : height, large = steep ? height : width;
  unsigned int exponent = bits(large) & 0x7f800000u;
  exponent = exponent < 0x01000000u ? 0x01000000u : exponent > 0x7e800000u ? 0x7e800000u : exponent;
  const float scale = from_bits(0x7f000000u - exponent), a = small * scale, b = large * scale;
  const float result = __builtin_sqrtf(fused(a, a, b * b)) * from_bits(exponent);
  const bool infinite = width == kInfinityF || height == kInfinityF;
  return infinite ? kInfinityF : is_nan(x) || is_nan(y) ? kNanF : result;
}
