#include "device.h"

// Remainders, exact by long division of the significands: as many bits at a time as a word has room for.

using namespace cupola::device;

namespace {

template <typename Float>
struct Parts;
template <>
struct Parts<double> {
  using Word = unsigned long long;
  static constexpr int fraction = 52, room = 11;
};
template <>
struct Parts<float> {
  using Word = unsigned int;
  static constexpr int fraction = 23, room = 40;
};

/// A positive finite number as significand * 2^(exponent - 1), less a constant power; the exponent is at least 1.
struct Whole {
  unsigned long long significand;
  int exponent;
};
template <typename Float>
LOCAL Whole whole(Float magnitude) {
  constexpr int fraction = Parts<Float>::fraction;
  const unsigned long long word = bits(magnitude);
  const int exponent = (int)(word >> fraction);
  const unsigned long long significand = word & ((1ull << fraction) - 1);
  return exponent ? Whole{significand | 1ull << fraction, exponent} : Whole{significand, 1};
}

/// significand * 2^(exponent - 1) again; the significand has as many bits as the type at most.
template <typename Float>
LOCAL Float number(Whole x) {
  using Word = typename Parts<Float>::Word;
  constexpr int fraction = Parts<Float>::fraction;
  const int zeros = __builtin_clzll(x.significand | 1) - (63 - fraction);
  const int shift = zeros < x.exponent - 1 ? zeros : x.exponent - 1;
  const unsigned long long significand = x.significand << shift;
  const int exponent = significand >> fraction ? x.exponent - shift : 0;
  const unsigned long long word = (significand & ((1ull << fraction) - 1)) | (unsigned long long)exponent << fraction;
  return from_bits((Word)word);
}

/// What division of magnitudes leaves, and the quotient's low bits.
struct Division {
  Whole rest;
  unsigned int quotient;
};
/// y is not 0. What x has below y's last bit stays with it.
template <typename Float>
LOCAL Division divide(Float x, Float y) {
  Whole a = whole(x);
  const Whole b = whole(y);
  if (x < y) return {a, 0};
  unsigned int quotient = 0;
  int left = a.exponent - b.exponent;
  unsigned long long rest = a.significand;
  for (;;) {
    const unsigned long long part = rest / b.significand;
    rest -= part * b.significand;
    quotient += (unsigned int)part;
    if (left == 0 || rest == 0) break;
    const int step = left < Parts<Float>::room ? left : Parts<Float>::room;
    rest <<= step, quotient <<= step, left -= step;
  }
  // A quotient that ended early has zeros to come.
  quotient = left < 32 ? quotient << left : 0;
  return {{rest, b.exponent}, quotient};
}

template <typename Float>
LOCAL bool undefined(Float x, Float y) {
  return !is_finite(x) || is_nan(y) || y == 0;
}
LOCAL float quiet_nan(float) {
  return __builtin_nanf("");
}
LOCAL double quiet_nan(double) {
  return __builtin_nan("");
}
LOCAL float magnitude_of(float x) {
  return __builtin_fabsf(x);
}
LOCAL double magnitude_of(double x) {
  return __builtin_fabs(x);
}
template <typename Float>
LOCAL Float negated_if(Float x, bool negative) {
  return negative ? -x : x;
}

template <typename Float>
LOCAL Float truncated(Float x, Float y) {
  if (undefined(x, y)) return quiet_nan(x);
  if (!is_finite(y)) return x;
  const Float rest = number<Float>(divide(magnitude_of(x), magnitude_of(y)).rest);
  return negated_if(rest, __builtin_signbit(x));
}

/// By the nearest quotient, the even one of two; *quotient gets its low three bits with its sign.
template <typename Float>
LOCAL Float nearest(Float x, Float y, int* quotient) {
  *quotient = 0;
  if (undefined(x, y)) return quiet_nan(x);
  if (!is_finite(y)) return x;
  const Float divisor = magnitude_of(y);
  const Division division = divide(magnitude_of(x), divisor);
  Float rest = number<Float>(division.rest);
  unsigned int count = division.quotient;
  // rest > divisor - rest, where both sides are exact or far apart
  const Float other = divisor - rest;
  if (rest > other || (rest == other && (count & 1))) {
    rest = rest - divisor;
    ++count;
  }
  const bool negative = __builtin_signbit(x) != __builtin_signbit(y);
  *quotient = negative ? -(int)(count & 7) : (int)(count & 7);
  return negated_if(rest, __builtin_signbit(x));
}

}  // namespace

NV double __nv_fmod(double x, double y) {
  return truncated(x, y);
}
NV float __nv_fmodf(float x, float y) {
  return truncated(x, y);
}
NV double __nv_remainder(double x, double y) {
  int quotient;
  return nearest(x, y, &quotient);
}
NV float __nv_remainderf(float x, float y) {
  int quotient;
  return nearest(x, y, &quotient);
}
NV double __nv_remquo(double x, double y, int* quotient) {
  return nearest(x, y, quotient);
}
NV float __nv_remquof(float x, float y, int* quotient) {
  return nearest(x, y, quotient);
}
