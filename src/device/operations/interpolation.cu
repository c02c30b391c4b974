#include "operation.h"

// Interpolation, colours and noise.

namespace cupola::device::operations {

template <typename T>
LOCAL T clamp(T x, T y, T z) {
  return within(x, y, z);
}
NUMBERS(clamp, XYZ)

template <typename T>
LOCAL T mix(T x, T y, T z) {
  return x + (y - x) * z;
}
FLOATS(mix, XYZ)

template <typename T>
LOCAL T saturate(T x) {
  return within(x, (T)0, (T)1);
}
FLOATS(saturate, X)

template <typename T>
LOCAL T smoothstep(T x, T y, T z) {
  const T t = saturate<T>((z - x) / (y - x));
  return t * t * (3 - 2 * t);
}
FLOATS(smoothstep, XYZ)

template <typename T>
LOCAL T smootherstep(T x, T y, T z) {
  const T t = saturate<T>((z - x) / (y - x));
  return t * t * t * (t * (t * 6 - 15) + 10);
}
FLOATS(smootherstep, XYZ)

/// For x up to 1/2 as sin(angle/2)^2 + sqrt(3)/2 sin(angle), angle = acos(1 - 2x)/3, a sum that loses nothing.
template <typename T>
LOCAL T inverse_smoothstep(T x) {
  const T inside = saturate<T>(x), near = inside > (T)0.5 ? 1 - inside : inside;
  const T third = math::asin(math::sqrt(near)) / 3, sine = math::sin(third);
  const T value = sine * sine + (T)0.866025403784438647 * math::sin(2 * third);
  return inside > (T)0.5 ? 1 - value : value;
}
FLOATS(inverse_smoothstep, X)

template <typename T>
LOCAL T step(T x, T y) {
  return y < x ? (T)0 : (T)1;
}
FLOATS(step, XY)

template <typename T>
LOCAL T normalize(T x, T y, T z) {
  return (x - y) / (z - y);
}
FLOATS(normalize, XYZ)

template <typename T>
LOCAL T denormalize(T x, T y, T z) {
  return x * (z - y) + y;
}
FLOATS(denormalize, XYZ)

template <typename T>
LOCAL T map_range(T v, T w, T x, T y, T z) {
  return (v - w) / (x - w) * (z - y) + y;
}
FLOATS(map_range, VWXYZ)

/// The remainder, of the divisor's sign.
template <typename T>
LOCAL T remainder(T x, T y) {
  const T rest = math::fmod(x, y);
  return rest == 0 ? math::copysign((T)0, y) : (rest < 0) != (y < 0) ? rest + y : rest;
}

template <typename T>
LOCAL T wrap(T x, T y, T z) {
  return remainder(x - y, z - y) + y;
}
FLOATS(wrap, XYZ)

template <typename T>
LOCAL T ping_pong(T x, T y) {
  return y - math::fabs(remainder(x, 2 * y) - y);
}
FLOATS(ping_pong, XY)

template <typename T>
LOCAL T gamma_correct(T x, T y) {
  return math::pow(x, 1 / y);
}
FLOATS(gamma_correct, XY)

template <typename T>
LOCAL T inverse_gamma(T x, T y) {
  return math::pow(x, y);
}
FLOATS(inverse_gamma, XY)

// IEC 61966-2-1. The constants are no floats: float goes through double.

template <typename T>
LOCAL T srgb_to_linear(T single) {
  const double x = (double)single;
  return (T)(x <= 0.04045 ? x / 12.92 : math::pow((x + 0.055) / 1.055, 2.4));
}
FLOATS(srgb_to_linear, X)

template <typename T>
LOCAL T linear_to_srgb(T single) {
  const double x = (double)single;
  return (T)(x <= 0.0031308 ? x * 12.92 : 1.055 * math::pow(x, 1 / 2.4) - 0.055);
}
FLOATS(linear_to_srgb, X)

template <typename T>
LOCAL T bezier_quadratic(T w, T x, T y, T z) {
  const T rest = 1 - z;
  return rest * rest * w + 2 * rest * z * x + z * z * y;
}
FLOATS(bezier_quadratic, WXYZ)

template <typename T>
LOCAL T bezier_cubic(T v, T w, T x, T y, T z) {
  const T rest = 1 - z;
  return rest * rest * rest * v + 3 * rest * rest * z * w + 3 * rest * z * z * x + z * z * z * y;
}
FLOATS(bezier_cubic, VWXYZ)

// -- hashes: of the bits of a number, where -0 is 0 and all NaNs are one --

/// "lowbias32" of C. Wellons, "Prospecting for Hash Functions", after a step of the golden ratio.
LOCAL unsigned int mixed(unsigned int word) {
  word += 0x9e3779b9u;
  word = (word ^ word >> 16) * 0x7feb352du;
  word = (word ^ word >> 15) * 0x846ca68bu;
  return word ^ word >> 16;
}
/// splitmix64 (Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators").
LOCAL unsigned long long mixed(unsigned long long word) {
  word += 0x9e3779b97f4a7c15ull;
  word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9ull;
  word = (word ^ word >> 27) * 0x94d049bb133111ebull;
  return word ^ word >> 31;
}
LOCAL unsigned int quickly_mixed(unsigned int word) {
  word = (word ^ word >> 15) * 0x9e3779b1u;
  return word ^ word >> 16;
}

template <typename Math, typename Word>
LOCAL Word mixed_by(Word word) {
  if constexpr (Math::kPrecise)
    return mixed(word);
  else
    return quickly_mixed(word);
}

LOCAL unsigned int word_of(float x) {
  return is_nan(x) ? 0x7fc00000u : bits(x + 0.0f);
}
LOCAL unsigned long long word_of(double x) {
  return is_nan(x) ? 0x7ff8000000000000ull : bits(x + 0.0);
}
LOCAL unsigned int word_of(int x) {
  return (unsigned int)x;
}
LOCAL unsigned int word_of(unsigned int x) {
  return x;
}
LOCAL unsigned long long word_of(long long x) {
  return (unsigned long long)x;
}

/// An integer of the same bits, or a float from 0 on, below 1.
LOCAL void store_hash(unsigned int word, float& result) {
  result = (float)(word >> 8) * 0x1p-24f;
}
LOCAL void store_hash(unsigned long long word, double& result) {
  result = (double)(word >> 11) * 0x1p-53;
}
LOCAL void store_hash(unsigned int word, int& result) {
  result = (int)word;
}
LOCAL void store_hash(unsigned int word, unsigned int& result) {
  result = word;
}
LOCAL void store_hash(unsigned long long word, long long& result) {
  result = (long long)word;
}

template <typename Math, typename T>
LOCAL T hash(T x) {
  T result;
  store_hash(mixed_by<Math>(word_of(x)), result);
  return result;
}
FAST(hash, X)
#define WHOLE(name, shape)                        \
  OPERATION(name, Precise, shape, int, i32)       \
  OPERATION(name, Precise, shape, long long, i64) \
  OPERATION(name, Precise, shape, unsigned int, u32)
WHOLE(hash, X)

template <typename Math, typename T>
LOCAL T hash2(T x, T y) {
  T result;
  store_hash(mixed_by<Math>(mixed_by<Math>(word_of(x)) ^ word_of(y)), result);
  return result;
}
FAST(hash2, XY)
WHOLE(hash2, XY)

template <typename Math, typename T>
LOCAL T noise_white(T x) {
  return 2 * hash<Math>(x) - 1;
}
FAST(noise_white, X)

}  // namespace cupola::device::operations
