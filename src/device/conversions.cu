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

NV unsigned short __nv_float2half_rn(float x) {
  return __builtin_bit_cast(unsigned short, (_Float16)x);
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
