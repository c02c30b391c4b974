// Conversions of the 16-bit floating-point types. Oracle: half_table.h, and for integers rintl and its like; all 65536
// values are converted to each type.

#include "half_table.h"

#define TO_INTEGER(type, name)                                      \
  OF_MODE(type, __half2##name##_rn, __bfloat162##name##_rn, rintl)  \
  OF_MODE(type, __half2##name##_rz, __bfloat162##name##_rz, truncl) \
  OF_MODE(type, __half2##name##_ru, __bfloat162##name##_ru, ceill)  \
  OF_MODE(type, __half2##name##_rd, __bfloat162##name##_rd, floorl)
#define INTEGERS                                                   \
  TO_INTEGER(short, short)                                         \
  TO_INTEGER(unsigned short, ushort)                               \
  TO_INTEGER(int, int)                                             \
  TO_INTEGER(unsigned int, uint)                                   \
  TO_INTEGER(long long, ll)                                        \
  TO_INTEGER(unsigned long long, ull)                              \
  OF_MODE(signed char, __half2char_rz, __bfloat162char_rz, truncl) \
  OF_MODE(unsigned char, __half2uchar_rz, __bfloat162uchar_rz, truncl)
// Each conversion as a function object, which a kernel can take.
#define OF_MODE(type, half, bfloat, rounded)                                         \
  struct Call_##half {                                                               \
    __host__ __device__ type operator()(__half x) const { return half(x); }          \
    __host__ __device__ type operator()(__nv_bfloat16 x) const { return bfloat(x); } \
  };
INTEGERS
#undef OF_MODE

/// Beyond the limits the limit; NaN 0, or 2^63 in 64 bits.
template <typename H, typename Integer, typename Call>
void to_integers(const char* name, Call call, long double (*rounded)(long double)) {
  on_both<Integer>(
      kAll, [=] __host__ __device__(int i) { return call(make<H>(static_cast<unsigned short>(i))); },
      [&](int i, Integer got, const char* where) {
        const long double x = rounded(Of<H>::table().decode(static_cast<unsigned short>(i)));
        Integer expected = sizeof(Integer) == 8 ? static_cast<Integer>(1ull << 63) : 0;
        if (x <= static_cast<long double>(std::numeric_limits<Integer>::min()))
          expected = std::numeric_limits<Integer>::min();
        else if (x >= static_cast<long double>(std::numeric_limits<Integer>::max()))
          expected = std::numeric_limits<Integer>::max();
        else if (!std::isnan(x))
          expected = static_cast<Integer>(x);
        check::equal(got, expected, name, i, where, 0);
      });
}
CASE(to_integers) {
#define OF_MODE(type, half, bfloat, rounded)                \
  to_integers<__half, type>(#half, Call_##half(), rounded); \
  to_integers<__nv_bfloat16, type>(#bfloat, Call_##half(), rounded);
  INTEGERS
#undef OF_MODE
}

CASE(widen) {
  on_both<float>(
      kAll, [] __host__ __device__(int i) { return __half2float(make<__half>(static_cast<unsigned short>(i))); },
      [](int i, float got, const char*) {
        const float x = static_cast<float>(Of<__half>::table().decode(static_cast<unsigned short>(i)));
        if (!std::isnan(x) || !std::isnan(got)) EXPECT_EQUAL_AT(i, got, x);
      });
  on_both<float>(
      kAll,
      [] __host__ __device__(int i) { return __bfloat162float(make<__nv_bfloat16>(static_cast<unsigned short>(i))); },
      [](int i, float got, const char*) {
        const float x = static_cast<float>(Of<__nv_bfloat16>::table().decode(static_cast<unsigned short>(i)));
        if (!std::isnan(x) || !std::isnan(got)) EXPECT_EQUAL_AT(i, got, x);
      });
}

/// A double that is a value of the format, or a quarter, half or three quarters of its last bit above it, give or take
/// the double's own last bit.
template <typename H>
__host__ __device__ double near_value(int i) {
  const unsigned long long random = scrambled(i);
  const unsigned long long word = __builtin_bit_cast(
      unsigned long long, static_cast<double>(static_cast<float>(make<H>(static_cast<unsigned short>(random)))));
  const unsigned long long quarter = 1ull << (std::is_same_v<H, __half> ? 40 : 43);
  return __builtin_bit_cast(double, word + (random >> 16 & 3) * quarter + (random >> 20 & 3) - 1);
}

/// Any float, and those near the values of both formats.
__host__ __device__ inline float some_float(int i) {
  switch (i % 4) {
    case 0:
      return static_cast<float>(near_value<__half>(i));
    case 1:
      return static_cast<float>(near_value<__nv_bfloat16>(i));
    default:
      return __builtin_bit_cast(float, static_cast<unsigned int>(scrambled(i)));
  }
}
#define FROM_FLOAT(H, name, mode)                                                  \
  on_both<H>(                                                                      \
      200000, [] __host__ __device__(int i) { return name(some_float(i)); },       \
      [](int i, H got, const char* where) {                                        \
        expect(got, Of<H>::table().round({some_float(i)}, mode), #name, where, i); \
      });
#define FROM_FLOAT_TO_BOTH(suffix, mode)         \
  FROM_FLOAT(__half, __float2half##suffix, mode) \
  FROM_FLOAT(__nv_bfloat16, __float2bfloat16##suffix, mode)
CASE(from_float) {
  FROM_FLOAT_TO_BOTH(, kNearest);
  FROM_FLOAT_TO_BOTH(_rn, kNearest);
  FROM_FLOAT_TO_BOTH(_rz, kZero);
  FROM_FLOAT_TO_BOTH(_ru, kUp);
  FROM_FLOAT_TO_BOTH(_rd, kDown);
}

CASE(from_double) {
  on_both<__half>(
      300000, [] __host__ __device__(int i) { return __double2half(near_value<__half>(i)); },
      [](int i, __half got, const char* where) {
        expect(got, Of<__half>::table().round({near_value<__half>(i)}), "__double2half", where, i);
      });
  on_both<__nv_bfloat16>(
      300000, [] __host__ __device__(int i) { return __double2bfloat16(near_value<__nv_bfloat16>(i)); },
      [](int i, __nv_bfloat16 got, const char* where) {
        expect(got, Of<__nv_bfloat16>::table().round({near_value<__nv_bfloat16>(i)}), "__double2bfloat16", where, i);
      });
  // Rounding first to float, which makes it a tie, would give 1.
  EXPECT_EQUAL(bits(__double2half(1 + 0x1p-11 + 0x1p-40)), 0x3c01);
  EXPECT_EQUAL(bits(__nv_bfloat16(1 + 0x1p-8 + 0x1p-40)), 0x3f81);
}

/// Integers of every length, half of them a few bits and a last one.
template <typename Integer>
__host__ __device__ Integer some_integer(int i) {
  const unsigned long long random = scrambled(i), shifted = random >> (i % 64);
  return static_cast<Integer>(i & 64 ? shifted : (shifted >> (63 - i % 64) << (63 - i % 64)) + (random & 1));
}
#define FROM_INTEGER(H, type, name, mode)                                           \
  on_both<H>(                                                                       \
      50000, [] __host__ __device__(int i) { return name(some_integer<type>(i)); }, \
      [](int i, H got, const char* where) {                                         \
        const long double x = static_cast<long double>(some_integer<type>(i));      \
        expect(got, Of<H>::table().round({x}, mode), #name, where, i);              \
      });
#define FROM_INTEGER_TO_BOTH(type, name, suffix, mode)      \
  FROM_INTEGER(__half, type, __##name##2half##suffix, mode) \
  FROM_INTEGER(__nv_bfloat16, type, __##name##2bfloat16##suffix, mode)
#define FROM_INTEGER_IN_ALL_MODES(type, name)     \
  FROM_INTEGER_TO_BOTH(type, name, _rn, kNearest) \
  FROM_INTEGER_TO_BOTH(type, name, _rz, kZero)    \
  FROM_INTEGER_TO_BOTH(type, name, _ru, kUp)      \
  FROM_INTEGER_TO_BOTH(type, name, _rd, kDown)
CASE(from_integers) {
  FROM_INTEGER_IN_ALL_MODES(short, short);
  FROM_INTEGER_IN_ALL_MODES(unsigned short, ushort);
  FROM_INTEGER_IN_ALL_MODES(int, int);
  FROM_INTEGER_IN_ALL_MODES(unsigned int, uint);
  FROM_INTEGER_IN_ALL_MODES(long long, ll);
  FROM_INTEGER_IN_ALL_MODES(unsigned long long, ull);
}

CHECK_MAIN()
