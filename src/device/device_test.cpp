// The device library's functions, compiled for the host from the same text. Oracles: long double arithmetic and
// functions of the C library, the processor's own directed rounding, and inverse functions checked through their
// forward ones.

#include <gtest/gtest.h>

#include <cfenv>
#include <cmath>
#include <random>

#include "device/conversions.cu"
#include "device/exponentials.cu"
#include "device/hyperbolic.cu"
#include "device/integer.cu"
#include "device/math_library.cu"
#include "device/powers.cu"
#include "device/rounded.cu"
#include "device/simd_in_word.cu"
#include "device/special.cu"
#include "device/trigonometry.cu"

namespace {

/// Distance from the exact value in units in the last place of the exact value.
double ulps(double got, long double exact) {
  if (std::isnan(got) && std::isnan(exact)) return 0;
  if (got == (double)exact) return 0;
  const double rounded = std::fabs((double)exact);
  const double unit = std::max(std::nextafter(rounded, INFINITY) - rounded, 0x1p-1074);
  return (double)(std::fabs((long double)got - exact) / unit);
}

/// Calls check(x) for values spread over the exponents between low and high, both signs if low < 0.
template <typename Check>
void for_values(double low, double high, int count, Check check) {
  std::mt19937_64 random(42);
  std::uniform_real_distribution<double> place(0, 1);
  for (int i = 0; i < count; ++i) check(low + (high - low) * place(random));
}

double any_double(std::mt19937_64& random) {
  double value = 0;
  do value = __builtin_bit_cast(double, (unsigned long long)random());
  while (std::isnan(value));
  switch (random() % 8) {
    case 0:
      return std::ldexp((double)(long long)(random() >> 11), (int)(random() % 40) - 70);
    case 1:
      return (double)(int)(random() % 64) - 32;
    case 2:
      return __builtin_bit_cast(double, random() & 0x800fffffffffffffull);
    default:
      return value;
  }
}
float any_float(std::mt19937_64& random) {
  float value = 0;
  do value = __builtin_bit_cast(float, (unsigned int)random());
  while (std::isnan(value));
  switch (random() % 8) {
    case 0:
      return (float)std::ldexp((double)(random() % 0xffffff), (int)(random() % 40) - 30);
    case 1:
      return (float)(int)(random() % 64) - 32;
    case 2:
      return __builtin_bit_cast(float, (unsigned int)random() & 0x807fffffu);
    default:
      return value;
  }
}

/// The operation under the processor's own rounding mode.
template <typename Operation>
auto under(int mode, Operation operation) {
  const int before = std::fegetround();
  std::fesetround(mode);
  const auto result = operation();
  std::fesetround(before);
  return result;
}
bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

#define EXPECT_MODE(mode, got, type, operation)                                                                      \
  do {                                                                                                               \
    const type want = under(mode, [&] {                                                                              \
      volatile type x = a, y = b, z = c;                                                                             \
      (void)x, (void)y, (void)z;                                                                                     \
      return (type)(operation);                                                                                      \
    });                                                                                                              \
    const type have = got;                                                                                           \
    EXPECT_TRUE(same(have, want)) << #got << " a " << std::hexfloat << a << " b " << b << " c " << c << ": " << have \
                                  << ", want " << want;                                                              \
  } while (0)
#define EXPECT_ALL_MODES(name, arguments, type, operation)                 \
  EXPECT_MODE(FE_TOWARDZERO, __nv_##name##_rz arguments, type, operation); \
  EXPECT_MODE(FE_UPWARD, __nv_##name##_ru arguments, type, operation);     \
  EXPECT_MODE(FE_DOWNWARD, __nv_##name##_rd arguments, type, operation)

TEST(Rounded, DoubleAgreesWithTheProcessor) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300000 && !HasFailure(); ++i) {
    const double a = any_double(random), b = any_double(random), c = any_double(random);
    EXPECT_ALL_MODES(dadd, (a, b), double, x + y);
    EXPECT_ALL_MODES(dsub, (a, b), double, x - y);
    EXPECT_ALL_MODES(dmul, (a, b), double, x* y);
    EXPECT_ALL_MODES(ddiv, (a, b), double, x / y);
    EXPECT_ALL_MODES(drcp, (a), double, 1 / x);
    EXPECT_ALL_MODES(dsqrt, (a), double, std::sqrt(x));
    EXPECT_ALL_MODES(fma, (a, b, c), double, std::fma(x, y, z));
  }
}

TEST(Rounded, FloatAgreesWithTheProcessor) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300000 && !HasFailure(); ++i) {
    const float a = any_float(random), b = any_float(random), c = any_float(random);
    EXPECT_ALL_MODES(fadd, (a, b), float, x + y);
    EXPECT_ALL_MODES(fsub, (a, b), float, x - y);
    EXPECT_ALL_MODES(fmul, (a, b), float, x* y);
    EXPECT_ALL_MODES(fdiv, (a, b), float, x / y);
    EXPECT_ALL_MODES(frcp, (a), float, 1 / x);
    EXPECT_ALL_MODES(fsqrt, (a), float, std::sqrt(x));
    EXPECT_ALL_MODES(fmaf, (a, b, c), float, std::fmaf(x, y, z));
  }
}

TEST(Conversions, RoundAsTheProcessor) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300000 && !HasFailure(); ++i) {
    const double a = any_double(random), b = 0, c = 0;
    EXPECT_ALL_MODES(double2float, (a), float, (float)a);
    const long long whole = (long long)random() >> (random() % 64);
    EXPECT_ALL_MODES(ll2float, (whole), float, (float)*(volatile const long long*)&whole);
    EXPECT_ALL_MODES(ll2double, (whole), double, (double)*(volatile const long long*)&whole);
    EXPECT_ALL_MODES(int2float, ((int)whole), float, (float)(int)*(volatile const long long*)&whole);
  }
}

TEST(Conversions, UnsignedLimitsStepBelowTheRoundedValue) {
  EXPECT_EQ(__nv_ull2double_rz(~0ull), 0x1.fffffffffffffp63);  // oracle: 2^64 - 1 truncated to 53 bits
  EXPECT_EQ(__nv_ull2double_ru(~0ull), 0x1p64);
  EXPECT_EQ(__nv_uint2float_rd(~0u), 0x1.fffffep31f);
  EXPECT_EQ(__nv_uint2float_ru(~0u), 0x1p32f);
}

// Oracle: the PTX ISA's rules for cvt from floating point to integers.
TEST(Conversions, ToIntegersSaturate) {
  EXPECT_EQ(__nv_float2int_rz(1e20f), 2147483647);
  EXPECT_EQ(__nv_float2int_rz(-1e20f), -2147483647 - 1);
  EXPECT_EQ(__nv_float2int_rz(NAN), 0);
  EXPECT_EQ(__nv_double2int_rz(NAN), -2147483647 - 1);
  EXPECT_EQ(__nv_float2uint_rz(-3.0f), 0u);
  EXPECT_EQ(__nv_double2ull_rz(1e30), ~0ull);
  EXPECT_EQ(__nv_float2int_rn(2.5f), 2);
  EXPECT_EQ(__nv_float2int_rn(3.5f), 4);
  EXPECT_EQ(__nv_float2int_ru(2.1f), 3);
  EXPECT_EQ(__nv_float2int_rd(-2.1f), -3);
  EXPECT_EQ(__nv_llround(-2.5), -3);
}

TEST(Special, ReciprocalRoots) {
  std::mt19937_64 random(4);
  double worst = 0, worst_cube = 0;
  for (int i = 0; i < 300000; ++i) {
    const double x = std::fabs(any_double(random));
    if (!std::isfinite(x) || x == 0) continue;
    worst = std::max(worst, ulps(__nv_rsqrt(x), 1 / std::sqrt((long double)x)));
    worst_cube = std::max(worst_cube, ulps(__nv_rcbrt(x), 1 / std::cbrt((long double)x)));
  }
  EXPECT_LE(worst, 1);
  EXPECT_LE(worst_cube, 1);
  EXPECT_EQ(__nv_rsqrt(0.0), INFINITY);
  EXPECT_EQ(__nv_rsqrt(INFINITY), 0.0);
}

TEST(Special, FrsqrtIsCorrectlyRounded) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000000 && !HasFailure(); ++i) {
    const float x = __builtin_bit_cast(float, (unsigned int)(random() % 0x7f800000u));
    EXPECT_EQ(__nv_frsqrt_rn(x), (float)(1 / std::sqrt((long double)x))) << x;
  }
}

TEST(Special, Norms) {
  std::mt19937_64 random(6);
  double worst = 0, worst_inverse = 0;
  for (int i = 0; i < 200000; ++i) {
    const double a = any_double(random), b = any_double(random), c = any_double(random);
    if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) continue;
    const long double exact = std::sqrt((long double)a * a + (long double)b * b + (long double)c * c);
    if (exact == 0) continue;
    worst = std::max(worst, ulps(__nv_norm3d(a, b, c), exact));
    worst_inverse = std::max(worst_inverse, ulps(__nv_rnorm3d(a, b, c), 1 / exact));
  }
  EXPECT_LE(worst, 1);
  EXPECT_LE(worst_inverse, 1);
  EXPECT_EQ(__nv_norm3d(NAN, INFINITY, 0), INFINITY);
  EXPECT_EQ(__nv_rhypot(0, 0), INFINITY);
}

TEST(Special, SineAndCosineOfPi) {
  const long double pi = 3.14159265358979323846264338327950288L;
  double worst = 0;
  for_values(-4, 4, 300000, [&](double x) {
    const long double reduced = (long double)x - 2 * std::rint((long double)x / 2);
    // Near a zero the oracle reduces exactly first.
    const long double from_half = std::fabs(reduced) > 0.5L ? std::copysign(1.0L, reduced) - reduced : reduced;
    worst = std::max(worst, ulps(__nv_sinpi(x), std::sin(pi * from_half)));
    const long double magnitude = std::fabs(reduced);
    worst = std::max(worst, ulps(__nv_cospi(x), std::sin(pi * (0.5L - magnitude))));
  });
  EXPECT_LE(worst, 2);
  EXPECT_EQ(__nv_sinpi(3.0), 0);
  EXPECT_EQ(__nv_cospi(2.5), 0);
  EXPECT_EQ(__nv_cospi(3.0), -1);
  EXPECT_EQ(__nv_sinpi(-1.5), 1);
  EXPECT_EQ(__nv_cospi(1e300), 1);
}

// Oracle: the forward function in long double. dy = (f(y) - x) / f'(y) is y's error.
TEST(Special, InverseErrorFunctions) {
  const long double slope = 1.12837916709551257389615890312154517L;  // 2 / sqrt(pi)
  double worst = 0;
  const auto of_erfinv = [&](double x) {
    const double y = __nv_erfinv(x);
    const long double off =
        std::fabs(x) < 0.5
            ? std::erf((long double)y) - x
            : std::copysign(1.0L, y) * ((1 - std::fabs((long double)x)) - std::erfc(std::fabs((long double)y)));
    worst = std::max(worst, ulps(y, y - off / (slope * std::exp(-(long double)y * y))));
  };
  for_values(-1, 1, 200000, of_erfinv);
  for (double distance = 0.5; distance > 0x1p-53; distance /= 1.7) of_erfinv(1 - distance);
  for (double x = 0.5; x > 1e-300; x /= 3.1) of_erfinv(x);
  EXPECT_LE(worst, 4);

  worst = 0;
  for (double q = 0.499; q > 0x1p-1000; q /= 1.37) {
    const double y = __nv_erfcinv(q);
    worst = std::max(worst, ulps(y, y + (std::erfc((long double)y) - q) / (slope * std::exp(-(long double)y * y))));
  }
  EXPECT_LE(worst, 4);
  EXPECT_EQ(__nv_erfinv(1.0), INFINITY);
  EXPECT_EQ(__nv_erfcinv(2.0), -INFINITY);
  EXPECT_TRUE(std::isnan(__nv_erfinv(1.5)));
}

TEST(Special, NormalDistribution) {
  double worst = 0;
  const long double half_root = 0.707106781186547524400844362104849039L;
  for_values(-37, 10, 300000,
             [&](double x) { worst = std::max(worst, ulps(__nv_normcdf(x), 0.5L * std::erfc(-x * half_root))); });
  EXPECT_LE(worst, 4);
  EXPECT_EQ(__nv_normcdfinv(0.5), 0);
  for_values(1e-6, 1 - 1e-6, 1000, [](double p) { EXPECT_NEAR(__nv_normcdf(__nv_normcdfinv(p)), p, 1e-15); });
}

TEST(Special, ScaledErrorFunction) {
  double worst = 0;
  // Above 30 the rounding of x * x in the oracle outgrows the bound.
  for_values(-26, 30, 300000, [&](double x) {
    worst = std::max(worst, ulps(__nv_erfcx(x), std::exp((long double)x * x) * std::erfc((long double)x)));
  });
  EXPECT_LE(worst, 4);
  EXPECT_NEAR(__nv_erfcx(1e10), 0.56418958354775628695e-10, 1e-25);
}

// Oracle: std::cyl_bessel_i in long double.
TEST(Special, ModifiedBesselFunctions) {
  double worst = 0;
  for_values(0, 60, 3000, [&](double x) {
    worst = std::max(worst, ulps(__nv_cyl_bessel_i0(x), std::cyl_bessel_i(0.0L, (long double)x)));
    worst = std::max(worst, ulps(__nv_cyl_bessel_i1(x), std::cyl_bessel_i(1.0L, (long double)x)));
  });
  EXPECT_LE(worst, 3);
  EXPECT_EQ(__nv_cyl_bessel_i1(-2.0), -__nv_cyl_bessel_i1(2.0));
}

// Oracle: the same in 128-bit integers, or bit by bit.
TEST(Integer, AgreesWithWideArithmetic) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100000; ++i) {
    const unsigned long long a = random(), b = random();
    EXPECT_EQ(__nv_umul64hi(a, b), (unsigned long long)((unsigned __int128)a * b >> 64));
    EXPECT_EQ(__nv_mul64hi((long long)a, (long long)b), (long long)((__int128)(long long)a * (long long)b >> 64));
    const int x = (int)a, y = (int)b;
    EXPECT_EQ(__nv_mulhi(x, y), (int)((long long)x * y >> 32));
    EXPECT_EQ(__nv_mul24(x, y), (int)((unsigned)(x << 8 >> 8) * (unsigned)(y << 8 >> 8)));
    EXPECT_EQ(__nv_sad(x, y, 5), (int)(5u + (unsigned)std::llabs((long long)x - y)));
  }
  EXPECT_EQ(__nv_byte_perm(0x03020100, 0x07060504, 0x7531), 0x07050301);
  EXPECT_EQ(__nv_byte_perm(0x00800000, 0, 0xa2), (int)0x0000ff80);
  EXPECT_EQ(__nv_ffs(0), 0);
  EXPECT_EQ(__nv_clz(0), 32);
  EXPECT_EQ(__nv_brev(1), -2147483647 - 1);
}

// Oracle: worked by hand from the definitions in the CUDA Math API.
TEST(SimdInWord, Lanes) {
  EXPECT_EQ((unsigned)__nv_vadd4((int)0xff010203u, 0x01010101), 0x00020304u);
  EXPECT_EQ((unsigned)__nv_vaddss2(0x7fff8000, 0x0001ffff), 0x7fff8000u);
  EXPECT_EQ((unsigned)__nv_vaddus4((int)0xff010203u, 0x01010101), 0xff020304u);
  EXPECT_EQ((unsigned)__nv_vsubus2(0x00010005, 0x00020003), 0x00000002u);
  EXPECT_EQ((unsigned)__nv_vcmpgts4(0x01ff8000, 0x00000000), 0xff000000u);
  EXPECT_EQ((unsigned)__nv_vsetgtu4(0x01ff8000, 0x00000000), 0x01010100u);
  EXPECT_EQ((unsigned)__nv_vabs2((int)0x80008001u), 0x80007fffu);
  EXPECT_EQ((unsigned)__nv_vabsss2((int)0x80008001u), 0x7fff7fffu);
  EXPECT_EQ(__nv_vsadu4(0x01020304, 0x04030201), 8);
  EXPECT_EQ((unsigned)__nv_vavgu4(0x01020304, 0x02030405), 0x02030405u);
}

/// The magnitude that a byte or half stands for, infinities left out: the format's definition.
double decoded(u32 bits, int fraction_bits, int bias) {
  const int exponent = (int)(bits >> fraction_bits), fraction = (int)bits & ((1 << fraction_bits) - 1);
  return std::ldexp(exponent ? (1 << fraction_bits) + fraction : fraction,
                    std::max(exponent, 1) - bias - fraction_bits);
}

/// The nearest of all numbers of a format up to `most`, the even one of two; `most` itself for greater ones.
u32 nearest_code(double magnitude, int fraction_bits, int bias, u32 most) {
  u32 best = 0;
  for (u32 code = 1; code <= most; ++code) {
    const double old_error = std::fabs(magnitude - decoded(best, fraction_bits, bias));
    const double error = std::fabs(magnitude - decoded(code, fraction_bits, bias));
    if (error < old_error || (error == old_error && code % 2 == 0)) best = code;
  }
  return best;
}

// Oracle: a search through all numbers of the format.
TEST(Encode, BytesAreTheNearestNumbers) {
  for_values(-24, 18, 20000, [](double place) {
    for (const double x : {(double)(float)std::exp2(place), std::ldexp((double)(int)(place * 8), (int)place)}) {
      const u32 upper = nearest_code(std::fabs(x), 3, 7, 0x7e), lower = nearest_code(std::fabs(x), 2, 15, 0x7b);
      const u32 sign = std::signbit(x) ? 0x80 : 0;
      EXPECT_EQ(__cupola_ptx_to_e4m3x2(x, -x), (upper | sign) << 8 | upper | (sign ^ 0x80)) << x;
      EXPECT_EQ(__cupola_ptx_to_e5m2x2(-x, x), (lower | (sign ^ 0x80)) << 8 | lower | sign) << x;
    }
  });
}

// Oracle: the neighbour of the compiler's conversion to nearest on the side that the rounding asks for.
TEST(Encode, HalvesRoundAsAsked) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const double x = std::ldexp((double)(long long)(random() >> (random() % 50)), (int)(random() % 60) - 90) *
                     (random() % 2 ? 1 : -1);
    const auto value = [](u32 bits) { return (double)__builtin_bit_cast(_Float16, (unsigned short)bits); };
    const u32 down = __cupola_ptx_to_f16_rm(x), up = __cupola_ptx_to_f16_rp(x), zero = __cupola_ptx_to_f16_rz(x);
    const double nearest = (double)(_Float16)x;
    EXPECT_LE(value(down), x);
    EXPECT_GE(value(up), x);
    EXPECT_TRUE(value(down) == nearest || value(up) == nearest) << x;
    EXPECT_EQ(zero, x < 0 ? up : down) << x;
    if (value(down) == x) {
      EXPECT_EQ(down, up) << x;
    } else {
      EXPECT_EQ((down & 0x7fff) + (x > 0 ? 1 : 0), (up & 0x7fff) + (x > 0 ? 0 : 1)) << x;
    }
  }
}

TEST(MathLibrary, IntegerExponents) {
  EXPECT_EQ(__nv_ilogb(8.5), 3);
  EXPECT_EQ(__nv_ilogb(0x1p-1074), -1074);  // oracle: the exponent written in the constant
  EXPECT_EQ(__nv_ilogbf(0x1.8p-140f), -140);
  EXPECT_EQ(__nv_powif(-3.0f, 3), -27.0f);
  EXPECT_EQ(__nv_saturatef(NAN), 0.0f);
}

}  // namespace
