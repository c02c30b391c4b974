#include "elementary.h"

// Circular functions of float and their inverses (elementary.h has the method, and what the numbers of ulps are).

using namespace cupola::device;

namespace {

// -- reduction --

/// x = rest + quadrant * pi/2, |rest| a little above pi/4 at most; the low two bits of `quadrant` count.
struct Reduced {
  float rest;
  unsigned int quadrant;
};

/// Up to here three parts of pi/2 are enough: the quadrant is below 2^17, and its products with them are exact but for
/// the last.
inline constexpr float kFewTurns = 0x1p16f;

LOCAL Reduced reduced(float x) {
  const float shifted = fused(x, 0x1.45f306p-1f, 0x1.8p23f), turns = shifted - 0x1.8p23f;
  float rest = fused(turns, -0x1.921fb6p+0f, x);
  rest = fused(turns, 0x1.777a5cp-25f, rest);
  rest = fused(turns, 0x1.ee59dap-50f, rest);
  return {rest, bits(shifted)};
}

/// The words of 2/pi after the binary point, with one of zeros before them, from which a word on.
template <unsigned int first>
LOCAL unsigned int two_over_pi(unsigned int word) {
  constexpr unsigned int words[] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,
                                    0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};
  unsigned int result = words[first];
  result = word == 1 ? words[first + 1] : result;
  result = word == 2 ? words[first + 2] : result;
  result = word == 3 ? words[first + 3] : result;
  return word == 4 ? words[first + 4] : result;
}

/// Any |x| >= 1: x is a whole mantissa times 2^e, so that those bits of 2/pi which it makes multiples of 4 can be left
/// out; of the others 96 are enough (M. H. Payne and R. N. Hanek, "Radian Reduction for Trigonometric Functions",
/// SIGNUM Newsletter 18(1), 1983). NaN for infinities and NaN.
LOCAL Reduced reduced_exactly(float x) {
  const unsigned int magnitude = bits(x) & 0x7fffffffu, mantissa = (magnitude & 0x7fffffu) | 0x800000u;
  const unsigned int place = (magnitude >> 23) - 120, word = place >> 5, shift = place & 31;
  const unsigned int a = two_over_pi<0>(word), b = two_over_pi<1>(word), c = two_over_pi<2>(word),
                     d = two_over_pi<3>(word);
  const auto product = [&](unsigned int high, unsigned int low)
                           INLINE { return (((unsigned long long)high << 32 | low) << shift >> 32) * mantissa; };
  // Quarters of a turn as a fraction of 62 bits below two whole ones.
  const unsigned long long turns = (product(a, b) << 32) + product(b, c) + (product(c, d) >> 32);
  const float rest = (float)((double)(long long)(turns << 2) * 0x1.921fb54442d18p-64);
  const unsigned int quadrant = (unsigned int)((turns + (1ull << 61)) >> 62);
  if (magnitude >= 0x7f800000u) return {kNanF, 0};
  return x < 0 ? Reduced{-rest, 0 - quadrant} : Reduced{rest, quadrant};
}

// -- sine, cosine, tangent --

LOCAL float odd_quadrant(float x, unsigned int quadrant, float otherwise) {
  return quadrant & 1 ? x : otherwise;
}
LOCAL float sine(Reduced angle) {
  const float square = angle.rest * angle.rest;
  const float odd = fused(polynomial(square, -0x1.555546p-3f, 0x1.110776p-7f, -0x1.9952fap-13f), square * angle.rest,
                          angle.rest);                                                                    // 2^-27
  const float even = polynomial(square, 1.0f, -0.5f, 0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e80cp-16f);  // 2^-32
  return from_bits(bits(odd_quadrant(even, angle.quadrant, odd)) ^ (angle.quadrant & 2) << 30);
}
LOCAL float tangent(Reduced angle) {
  const float square = angle.rest * angle.rest;
  const float value = fused(polynomial(square, 0x1.55556p-2f, 0x1.110d9cp-3f, 0x1.bada5p-5f, 0x1.5cb9b4p-6f,
                                       0x1.62f596p-7f, 0x1.7e6168p-14f, 0x1.1ed0fcp-8f),  // 2^-29
                            square * angle.rest, angle.rest);
  return odd_quadrant(-1 / value, angle.quadrant, value);
}

SLOW float sine_of_many_turns(float x, unsigned int more) {
  const Reduced angle = reduced_exactly(x);
  return sine({angle.rest, angle.quadrant + more});
}
SLOW float tangent_of_many_turns(float x) {
  return tangent(reduced_exactly(x));
}

// -- of pi x --

/// x = rest + quadrant / 2, exactly.
LOCAL Reduced half_turns(float x) {
  const float within_turn = x - 2 * __builtin_rintf(x * 0.5f);  // [-1, 1]
  const float shifted = fused(within_turn, 2.0f, 0x1.8p23f);
  return {fused(shifted - 0x1.8p23f, -0.5f, within_turn), bits(shifted)};
}
LOCAL float sine_pi_float(Reduced angle) {
  const float square = angle.rest * angle.rest;
  const float tail = polynomial(square, -0x1.777a5cp-24f, -0x1.4abbcep+2f, 0x1.466b78p+1f, -0x1.32adaap-1f,
                                0x1.443a86p-4f);  // 2^-33
  const float odd = fused(angle.rest, 0x1.921fb6p+1f, angle.rest * tail);
  const float even =
      polynomial(square, 1.0f, -0x1.3bd3ccp+2f, 0x1.03c1bp+2f, -0x1.55b2b6p+0f, 0x1.d4f7eap-3f);  // 2^-31
  return from_bits(bits(odd_quadrant(even, angle.quadrant, odd)) ^ (angle.quadrant & 2) << 30);
}

// -- inverse functions --

/// |x| <= 1. 2^-28
LOCAL float arctangent(float x) {
  const float square = x * x;
  return fused(polynomial(square, -0x1.55553ep-2f, 0x1.9991e4p-3f, -0x1.242086p-3f, 0x1.c08c4ep-4f, -0x1.580922p-4f,
                          0x1.da2a6p-5f, -0x1.fd7faap-6f, 0x1.642824p-7f, -0x1.d36418p-10f),
               square * x, x);
}
/// arcsin(x) = x + rest, |x| <= 1/2. 2^-31
LOCAL float arcsine_rest(float x, float square) {
  return polynomial(square, 0x1.55554cp-3f, 0x1.3338acp-4f, 0x1.6ca754p-5f, 0x1.04d2dap-5f, 0x1.d5261ap-7f,
                    0x1.34c28ap-5f) *
         (square * x);
}
inline constexpr float kHalfPi = 0x1.921fb6p+0f, kHalfPiLow = -0x1.777a5cp-25f;

}  // namespace

/// 1.54 ulp.
ELEMENTARY float __nv_sinf(float x) {
  if (__builtin_fabsf(x) <= kFewTurns) return x == 0 ? x : sine(reduced(x));
  return sine_of_many_turns(x, 0);
}
/// 1.54 ulp.
ELEMENTARY float __nv_cosf(float x) {
  if (!(__builtin_fabsf(x) <= kFewTurns)) return sine_of_many_turns(x, 1);
  const Reduced angle = reduced(x);
  return sine({angle.rest, angle.quadrant + 1});
}
ELEMENTARY void __nv_sincosf(float x, float* sine, float* cosine) {
  *sine = __nv_sinf(x), *cosine = __nv_cosf(x);
}
/// 2.45 ulp.
ELEMENTARY float __nv_tanf(float x) {
  if (__builtin_fabsf(x) <= kFewTurns) return x == 0 ? x : tangent(reduced(x));
  return tangent_of_many_turns(x);
}

/// 0.96 ulp.
ELEMENTARY float __nv_sinpif(float x) {
  const float result = sine_pi_float(half_turns(x));
  return result == 0 ? __builtin_copysignf(0.0f, x) : result;
}
/// 0.85 ulp.
ELEMENTARY float __nv_cospif(float x) {
  const Reduced angle = half_turns(x);
  const float result = sine_pi_float({angle.rest, angle.quadrant + 1});
  return result == 0 ? 0.0f : result;
}
ELEMENTARY void __nv_sincospif(float x, float* sine, float* cosine) {
  *sine = __nv_sinpif(x), *cosine = __nv_cospif(x);
}

/// 1.30 ulp.
ELEMENTARY float __nv_atanf(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool above = magnitude > 1;
  const float angle = arctangent(above ? 1 / magnitude : magnitude);
  return __builtin_copysignf(above ? kHalfPi - (angle - kHalfPiLow) : angle, x);
}
/// 1.5 ulp.
ELEMENTARY float __nv_atan2f(float y, float x) {
  const float width = __builtin_fabsf(x), height = __builtin_fabsf(y);
  const bool steep = height > width;
  const float small = steep ? width : height, large = steep ? height : width;
  const float ratio = large == 0 ? 0.0f : small == kInfinityF ? 1.0f : small / large;
  float angle = arctangent(ratio);
  angle = steep ? kHalfPi - (angle - kHalfPiLow) : angle;
  angle = (int)bits(x) < 0 ? 2 * kHalfPi - (angle - 2 * kHalfPiLow) : angle;
  return is_nan(x) || is_nan(y) ? kNanF : __builtin_copysignf(angle, y);
}
/// 2.0 ulp. Above 1/2: arcsin x = pi/2 - 2 arcsin sqrt((1 - x)/2).
ELEMENTARY float __nv_asinf(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool above = magnitude > 0.5f;
  const float square = above ? fused(magnitude, -0.5f, 0.5f) : x * x;
  const float from = above ? __builtin_sqrtf(square) : magnitude, rest = arcsine_rest(from, square);
  const float other = fused(from, -2.0f, kHalfPi) + fused(rest, -2.0f, kHalfPiLow);
  return __builtin_copysignf(above ? other : from + rest, x);
}
/// 1.09 ulp.
ELEMENTARY float __nv_acosf(float x) {
  const float magnitude = __builtin_fabsf(x);
  const bool above = magnitude > 0.5f;
  const float square = above ? fused(magnitude, -0.5f, 0.5f) : x * x;
  const float from = above ? __builtin_sqrtf(square) : x, angle = from + arcsine_rest(from, square);
  const float other = kHalfPi - (angle - kHalfPiLow);
  return above && x > 0 ? 2 * angle : above ? 2 * other : other;
}
