#include "elementary.h"

// Exponentials, logarithms and powers of float (elementary.h has the method, and what the numbers of ulps are).

using namespace cupola::device;

/// 0.90 ulp.
ELEMENTARY float __nv_expf(float x) {
  const Exponential result = exponential(within(x, -105.0f, 90.0f));
  return times_power(result.value, result.whole);
}
/// 0.88 ulp.
ELEMENTARY float __nv_exp2f(float x) {
  const float inside = within(x, -151.0f, 129.0f), shifted = inside + kToWhole;
  return times_power(power_of_two(inside - (shifted - kToWhole)), bits(shifted));
}
/// 0.94 ulp.
ELEMENTARY float __nv_exp10f(float x) {
  const float inside = within(x, -46.0f, 39.0f);
  const float shifted = fused(inside, 0x1.a934fp+1f, kToWhole), whole = shifted - kToWhole;
  float rest = fused(whole, -0x1.344136p-2f, inside);
  rest = fused(whole, 0x1.ec10cp-27f, rest);
  const float value = polynomial(rest, 1.0f, 0x1.26bb1cp+1f, 0x1.53524ap+1f, 0x1.046f96p+1f, 0x1.2bd9a8p+0f,  // 2^-28
                                 0x1.156fdap-1f, 0x1.a6d88ep-3f);
  return times_power(value, bits(shifted));
}
/// 1.43 ulp. 2^n (e^rest - 1) + (2^n - 1), from halves, because 2^128 is out of range.
ELEMENTARY float __nv_expm1f(float x) {
  const float inside = within(x, -30.0f, 89.0f);
  const float shifted = fused(inside, 0x1.715476p+0f, kToWhole), whole = shifted - kToWhole;
  float rest = fused(whole, -0x1.62e43p-1f, inside);
  rest = fused(whole, 0x1.05c61p-29f, rest);
  const float over_square = polynomial(rest, 0.5f, 0x1.55552cp-3f, 0x1.555502p-5f, 0x1.1155aap-7f, 0x1.6d2e4cp-10f,
                                       0x1.3b854ap-13f);  // 2^-28
  const float small = fused(over_square, rest * rest, rest);
  const float half_power = from_bits((bits(shifted) - 128) << 23);
  const float half = fused(small, half_power, half_power - 0.5f);
  return x == 0 ? x : whole == 0 ? small : half + half;
}

/// 0.94 ulp.
ELEMENTARY float __nv_logf(float x) {
  const Binary parts = binary(x);
  const float small = fused(logarithm_rest(parts.rest), parts.rest * parts.rest, parts.rest);
  return logarithm_or(fused(parts.exponent, 0x1.62e43p-1f, small), x);
}

namespace {

/// The logarithm to a base of which `high + low` is 1 / log base, and step_high + step_low that of 2, step_high short
/// enough for exact products with exponents; `rest_over_square` is (log(1 + rest) - rest (high + low)) / rest^2.
LOCAL float logarithm_to_base(Binary parts, float high, float low, float step_high, float step_low,
                              float rest_over_square) {
  const float first = parts.rest * high;
  const float first_low = fused(parts.rest, low, fused(parts.rest, high, -first));
  const float whole = parts.exponent * step_high, sum = whole + first;
  const float sum_low = (whole - sum) + first;
  const float small = fused(rest_over_square, parts.rest * parts.rest, first_low);
  return sum + (sum_low + fused(parts.exponent, step_low, small));
}

}  // namespace

/// 1.11 ulp.
ELEMENTARY float __nv_log2f(float x) {
  const Binary parts = binary(x);
  const float over_square =
      polynomial(parts.rest, -0x1.715476p-1f, 0x1.ec7014p-2f, -0x1.715492p-2f, 0x1.27a382p-2f, -0x1.ec8b02p-3f,
                 0x1.9d21aap-3f, -0x1.6c691p-3f, 0x1.a0d4cp-3f, -0x1.690b8ep-3f);  // 2^-26
  return logarithm_or(logarithm_to_base(parts, 0x1.715476p+0f, 0x1.4ae0cp-26f, 1.0f, 0.0f, over_square), x);
}
/// 1.05 ulp.
ELEMENTARY float __nv_log10f(float x) {
  const Binary parts = binary(x);
  const float over_square =
      polynomial(parts.rest, -0x1.bcb7b2p-3f, 0x1.287a2ep-3f, -0x1.bcb66cp-4f, 0x1.63f6e4p-4f, -0x1.28c14ap-4f,
                 0x1.f2258cp-5f, -0x1.b0e7a4p-5f, 0x1.f24718p-5f, -0x1.cca73ep-5f);  // 2^-26
  return logarithm_or(
      logarithm_to_base(parts, 0x1.bcb7b2p-2f, -0x1.5b235ep-27f, 0x1.344p-2f, 0x1.3509f8p-18f, over_square), x);
}
/// 1.13 ulp. 1 + x = 2^n (1 + rest); rest is put together from x and 2^n, so that nothing of x is lost.
ELEMENTARY float __nv_log1pf(float x) {
  const float above = 1 + x;
  const unsigned int exponent = (bits(above) - 0x3f2aaaabu) & 0xff800000u;
  const float scaled = from_bits(bits(x) - exponent);  // x / 2^n: an x that is small goes with n = 0
  const float twice = from_bits(0x40000000u - exponent);
  const float power = fused(0.5f, twice, -1.0f), rest = scaled + power;
  const float small = rest + fused(logarithm_rest(rest), rest * rest, scaled - (rest - power));
  const float result = fused((float)(int)exponent * 0x1p-23f, 0x1.62e43p-1f, small);
  return __builtin_fabsf(x) < 0x1p-25f ? x : logarithm_or(result, above);
}

// -- powers --

namespace {

/// log2 of a positive number, with 35 bits.
LOCAL double binary_logarithm(float x) {
  const Binary parts = binary(x);
  const double rest = parts.rest;
  const double over_rest = polynomial(
      rest, 0x1.71547652bbe54p+0, -0x1.7154764b337f9p-1, 0x1.ec709d900339ap-2, -0x1.715484fab94f8p-2,
      0x1.2776e229f1bd7p-2, -0x1.ec687bb20cde8p-3, 0x1.a60b296eeaaa2p-3, -0x1.724a7129ca508p-3, 0x1.49813c4fdf142p-3,
      -0x1.19854aef4c028p-3, 0x1.fa1f8ea6553a6p-4, -0x1.5430b42277ea1p-3, 0x1.42a16473ca2d6p-3);
  return fused(over_rest, rest, (double)parts.exponent);
}

}  // namespace

/// 0.9 ulp. The power of |x| is 2^(y log2 |x|); signs and special cases as in C99, F.9.4.4.
ELEMENTARY float __nv_powf(float x, float y) {
  const float magnitude = __builtin_fabsf(x);
  const double logarithm = magnitude == 0            ? -kInfinity
                           : magnitude == kInfinityF ? kInfinity
                                                     : binary_logarithm(magnitude);
  const double exponent = within((double)y * logarithm, -160.0, 160.0), shifted = exponent + kToWholeD;
  const float rest = (float)(exponent - (shifted - kToWholeD));
  const float power = times_power(power_of_two(rest), (unsigned int)bits(shifted));
  // Numbers from 2^24 on are even.
  const float half = y * 0.5f;
  const bool whole = __builtin_rintf(y) == y, odd = whole && __builtin_rintf(half) != half;
  const bool negative = (int)bits(x) < 0, no_power = negative && !whole && magnitude != 0 && magnitude != kInfinityF;
  const float result = negative && odd ? -power : power;
  const bool one = y == 0 || x == 1 || (x == -1 && __builtin_fabsf(y) == kInfinityF);
  return one ? 1.0f : is_nan(x) || is_nan(y) || no_power ? kNanF : result;
}
