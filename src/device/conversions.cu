#include "rounding.h"

// Conversions: "CUDA Math API, Type Casting Intrinsics". To integers they saturate; NaN gives what the PTX ISA gives
// for cvt: 0 from float to 32 bits, otherwise the highest bit alone.

using namespace cupola::device;

using u32 = unsigned int;
using i64 = long long;
using u64 = unsigned long long;

NV int __nv_float_as_int(float x) {
  return (int)bits(x);
}
NV u32 __nv_float_as_uint(float x) {
  return bits(x);
}
NV float __nv_int_as_float(int x) {
  return from_bits((u32)x);
}
NV float __nv_uint_as_float(u32 x) {
  return from_bits(x);
}
NV u64 __nv_double_as_longlong(double x) {
  return bits(x);
}
NV double __nv_longlong_as_double(i64 x) {
  return from_bits((u64)x);
}
NV int __nv_double2hiint(double x) {
  return (int)(bits(x) >> 32);
}
NV int __nv_double2loint(double x) {
  return (int)bits(x);
}
NV double __nv_hiloint2double(int high, int low) {
  return from_bits((u64)(u32)high << 32 | (u32)low);
}

/// NaNs are one, as cvt.rn.f16.f32 has it.
NV unsigned short __nv_float2half_rn(float x) {
  return is_nan(x) ? 0x7fff : __builtin_bit_cast(unsigned short, (_Float16)x);
}
NV float __nv_half2float(unsigned short x) {
  return (float)__builtin_bit_cast(_Float16, x);
}

namespace {

/// x, whole already, as an integer between low and the number below `beyond`.
template <typename Integer, typename Float>
LOCAL Integer saturate(Float x, Float low, Float beyond, Integer nan) {
  if (is_nan(x)) return nan;
  if (x < low) return (Integer)low;
  if (x >= beyond) return (Integer) ~(Integer)(low < 0 ? (Integer)low : 0);
  return (Integer)x;
}

}  // namespace

#define TO_INTEGER(from, floating, to, integer, low, beyond, nan, suffix)   \
  NV integer __nv_##from##2##to##_rn(floating x) {                          \
    return saturate<integer>(__builtin_rint##suffix(x), low, beyond, nan);  \
  }                                                                         \
  NV integer __nv_##from##2##to##_rz(floating x) {                          \
    return saturate<integer>(__builtin_trunc##suffix(x), low, beyond, nan); \
  }                                                                         \
  NV integer __nv_##from##2##to##_ru(floating x) {                          \
    return saturate<integer>(__builtin_ceil##suffix(x), low, beyond, nan);  \
  }                                                                         \
  NV integer __nv_##from##2##to##_rd(floating x) {                          \
    return saturate<integer>(__builtin_floor##suffix(x), low, beyond, nan); \
  }
TO_INTEGER(float, float, int, int, -0x1p31f, 0x1p31f, 0, f)
TO_INTEGER(float, float, uint, u32, 0.0f, 0x1p32f, 0u, f)
TO_INTEGER(float, float, ll, i64, -0x1p63f, 0x1p63f, (i64)(1ull << 63), f)
TO_INTEGER(float, float, ull, u64, 0.0f, 0x1p64f, 1ull << 63, f)
TO_INTEGER(double, double, int, int, -0x1p31, 0x1p31, (int)0x80000000u, )
TO_INTEGER(double, double, uint, u32, 0.0, 0x1p32, 0x80000000u, )
TO_INTEGER(double, double, ll, i64, -0x1p63, 0x1p63, (i64)(1ull << 63), )
TO_INTEGER(double, double, ull, u64, 0.0, 0x1p64, 1ull << 63, )

NV i64 __nv_llrint(double x) {
  return __nv_double2ll_rn(x);
}
NV i64 __nv_llrintf(float x) {
  return __nv_float2ll_rn(x);
}
NV i64 __nv_llround(double x) {
  return __nv_double2ll_rz(__builtin_round(x));
}
NV i64 __nv_llroundf(float x) {
  return __nv_float2ll_rz(__builtin_roundf(x));
}

namespace {

/// x as floating point. `limit` is 2 to the number of value bits: the one rounded value that no Integer holds.
template <typename Float, typename Integer>
LOCAL Float widen(Integer x, Float limit, Rounding rounding) {
  const Float nearest = (Float)x;
  if (nearest == limit) return step(nearest, -1, rounding);
  const Integer back = (Integer)nearest;
  return step(nearest, x > back ? 1 : x < back ? -1 : 0, rounding);
}

}  // namespace

#define FROM_INTEGER(from, integer, to, floating, limit)        \
  NV floating __nv_##from##2##to##_rn(integer x) {              \
    return (floating)x;                                         \
  }                                                             \
  NV floating __nv_##from##2##to##_rz(integer x) {              \
    return widen<floating>(x, (floating)limit, Rounding::Zero); \
  }                                                             \
  NV floating __nv_##from##2##to##_ru(integer x) {              \
    return widen<floating>(x, (floating)limit, Rounding::Up);   \
  }                                                             \
  NV floating __nv_##from##2##to##_rd(integer x) {              \
    return widen<floating>(x, (floating)limit, Rounding::Down); \
  }
FROM_INTEGER(int, int, float, float, 0x1p31)
FROM_INTEGER(uint, u32, float, float, 0x1p32)
FROM_INTEGER(ll, i64, float, float, 0x1p63)
FROM_INTEGER(ull, u64, float, float, 0x1p64)
FROM_INTEGER(ll, i64, double, double, 0x1p63)
FROM_INTEGER(ull, u64, double, double, 0x1p64)
NV double __nv_int2double_rn(int x) {
  return x;
}
NV double __nv_uint2double_rn(u32 x) {
  return x;
}

NV float __nv_double2float_rn(double x) {
  return (float)x;
}
NV float __nv_double2float_rz(double x) {
  return narrow(x, 0, Rounding::Zero);
}
NV float __nv_double2float_ru(double x) {
  return narrow(x, 0, Rounding::Up);
}
NV float __nv_double2float_rd(double x) {
  return narrow(x, 0, Rounding::Down);
}

// -- for the PTX front end: to numbers of 16 and 8 bits, as "cvt" of the PTX ISA rounds them --

namespace {

/// A format of at most 16 bits without its sign. `beyond` is what a number greater than `most` becomes where it is
/// rounded away from zero.
struct Format {
  int fraction_bits, least_exponent;
  u32 most, beyond, nan, sign;
};

/// Exact for every x: the significand is cut at the format's last bit and the rest decides.
LOCAL u32 encode(double x, Format format, Rounding rounding) {
  if (is_nan(x)) return format.nan;
  const bool negative = __builtin_signbit(x);
  const u32 sign = negative ? format.sign : 0;
  if (is_infinite(x)) return sign | format.beyond;
  const u64 magnitude = bits(__builtin_fabs(x));
  const int exponent = (int)(magnitude >> 52) - 1023, below = format.least_exponent - exponent;
  const u64 significand = (magnitude & 0xfffffffffffffull) | (magnitude >> 52 ? 1ull << 52 : 0);
  const int cut = 52 - format.fraction_bits + (below > 0 ? below : 0), shift = cut < 63 ? cut : 63;
  const u64 kept = significand >> shift, rest = significand - (kept << shift), half = 1ull << (shift - 1);
  const bool away = rounding == Rounding::Up     ? rest && !negative
                    : rounding == Rounding::Down ? rest && negative
                    : rounding == Rounding::Zero ? false
                                                 : rest > half || (rest == half && (kept & 1));
  const u64 result = ((u64)(below > 0 ? 0 : -below) << format.fraction_bits) + kept + away;
  if (result <= format.most) return sign | (u32)result;
  const bool outward = rounding == Rounding::Nearest || (rounding == Rounding::Up && !negative) ||
                       (rounding == Rounding::Down && negative);
  return sign | (outward ? format.beyond : format.most);
}

inline constexpr Format kHalf = {10, -14, 0x7bff, 0x7c00, 0x7fff, 0x8000};
inline constexpr Format kBfloat = {7, -126, 0x7f7f, 0x7f80, 0x7fff, 0x8000};
// "OCP 8-bit Floating Point Specification", saturating: no number becomes an infinity.
inline constexpr Format kE4M3 = {3, -6, 0x7e, 0x7e, 0x7f, 0x80};
inline constexpr Format kE5M2 = {2, -14, 0x7b, 0x7b, 0x7f, 0x80};

}  // namespace

#define ENCODE(name, format, rounding)            \
  NV u32 __cupola_ptx_to_##name(double x) {       \
    return encode(x, format, Rounding::rounding); \
  }
ENCODE(f16_rz, kHalf, Zero)
ENCODE(f16_rm, kHalf, Down)
ENCODE(f16_rp, kHalf, Up)
ENCODE(bf16_rz, kBfloat, Zero)
ENCODE(bf16_rm, kBfloat, Down)
ENCODE(bf16_rp, kBfloat, Up)

/// The first number in the upper byte.
NV u32 __cupola_ptx_to_e4m3x2(double upper, double lower) {
  return encode(upper, kE4M3, Rounding::Nearest) << 8 | encode(lower, kE4M3, Rounding::Nearest);
}
NV u32 __cupola_ptx_to_e5m2x2(double upper, double lower) {
  return encode(upper, kE5M2, Rounding::Nearest) << 8 | encode(lower, kE5M2, Rounding::Nearest);
}
