// The elementary functions of float and of double, compiled for the host from the library's text: their error over
// arguments of all magnitudes, and what they give for special ones. Oracle: the C library's long double functions.
//
// Every 4093rd of all 2^32 arguments of each function; CUPOLA_STRIDE=1 in the environment takes all of them (minutes a
// function). The bounds are a little above the worst that is known, and with half an ulp for the rounding of the exact
// value none is wider than CUDA's.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "device/doubles.cu"
#include "device/error_functions.cu"
#include "device/exponentials.cu"
#include "device/hyperbolic.cu"
#include "device/roots.cu"
#include "device/trigonometry.cu"

namespace {

unsigned int stride() {
  const char* text = std::getenv("CUPOLA_STRIDE");
  return text ? static_cast<unsigned int>(std::atoi(text)) : 4093;
}

/// The distance of `got` from the exact value in units in the last place of that; 0 where both are beyond all floats,
/// or NaN.
double ulps(float got, long double exact) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : INFINITY;
  const float rounded = static_cast<float>(exact);
  if (got == rounded) {
    if (got == 0 && std::signbit(got) != std::signbit(exact)) return INFINITY;
    if (got == 0 || std::isinf(got)) return 0;
  }
  if (std::isinf(exact)) return INFINITY;
  const int exponent = std::max(std::ilogb(exact) - 23, -149);
  // Infinity stands for 2^128 here.
  const long double value = std::isinf(got) ? std::copysign(0x1p128L, static_cast<long double>(got)) : got;
  return static_cast<double>(std::fabs(value - exact) / std::scalbn(1.0L, exponent));
}

struct Worst {
  double error = 0;
  float at = 0;
};

template <typename Function, typename Exact>
Worst worst_of(Function function, Exact exact) {
  Worst worst;
  for (unsigned long long i = 0; i < 1ull << 32; i += stride()) {
    const float x = __builtin_bit_cast(float, static_cast<unsigned int>(i));
    const double error = ulps(function(x), exact(static_cast<long double>(x)));
    if (error > worst.error) worst = {error, x};
  }
  return worst;
}

#define ALL_ARGUMENTS(name, function, exact, bound)                                                         \
  TEST(Elementary, name) {                                                                                  \
    const Worst worst = worst_of([](float x) { return function(x); }, [](long double x) { return exact; }); \
    RecordProperty("worst", std::to_string(worst.error));                                                   \
    EXPECT_LE(worst.error, bound) << std::hexfloat << "at " << worst.at;                                    \
    if (std::getenv("CUPOLA_STRIDE")) std::printf("%s: %.4f ulp at %a\n", #name, worst.error, worst.at);    \
  }

/// sin(pi x) and cos(pi x), the argument reduced exactly first.
long double sine_of_pi(long double x) {
  if (std::isinf(x)) return NAN;
  long double reduced = std::remainder(x, 2.0L);
  if (reduced == std::rint(reduced)) return std::copysign(0.0L, x);
  if (std::fabs(reduced) > 0.5L) reduced = std::copysign(1.0L, reduced) - reduced;
  return std::sin(3.14159265358979323846264338327950288L * reduced);
}
long double cosine_of_pi(long double x) {
  return std::isinf(x) ? NAN : sine_of_pi(0.5L - std::fabs(std::remainder(x, 2.0L)));
}

ALL_ARGUMENTS(Expf, __nv_expf, std::exp(x), 0.9)
ALL_ARGUMENTS(Exp2f, __nv_exp2f, std::exp2(x), 0.9)
ALL_ARGUMENTS(Exp10f, __nv_exp10f, exp10l(x), 1)
ALL_ARGUMENTS(Expm1f, __nv_expm1f, std::expm1(x), 1.45)
ALL_ARGUMENTS(Logf, __nv_logf, std::log(x), 0.95)
ALL_ARGUMENTS(Log2f, __nv_log2f, std::log2(x), 1.15)
ALL_ARGUMENTS(Log10f, __nv_log10f, std::log10(x), 1.6)
ALL_ARGUMENTS(Log1pf, __nv_log1pf, std::log1p(x), 1.15)
ALL_ARGUMENTS(Sinf, __nv_sinf, std::sin(x), 1.55)
ALL_ARGUMENTS(Cosf, __nv_cosf, std::cos(x), 1.55)
ALL_ARGUMENTS(Tanf, __nv_tanf, std::tan(x), 2.6)
ALL_ARGUMENTS(Sinpif, __nv_sinpif, sine_of_pi(x), 1)
ALL_ARGUMENTS(Cospif, __nv_cospif, cosine_of_pi(x), 0.9)
ALL_ARGUMENTS(Asinf, __nv_asinf, std::asin(x), 2.1)
ALL_ARGUMENTS(Acosf, __nv_acosf, std::acos(x), 1.15)
ALL_ARGUMENTS(Atanf, __nv_atanf, std::atan(x), 1.35)
ALL_ARGUMENTS(Tanhf, __nv_tanhf, std::tanh(x), 1.4)
ALL_ARGUMENTS(Sinhf, __nv_sinhf, std::sinh(x), 1.65)
ALL_ARGUMENTS(Coshf, __nv_coshf, std::cosh(x), 1.35)
ALL_ARGUMENTS(Erff, __nv_erff, std::erf(x), 1.1)
ALL_ARGUMENTS(Erfcf, __nv_erfcf, std::erfc(x), 4.3)
ALL_ARGUMENTS(Normcdff, __nv_normcdff, 0.5L * std::erfc(-x * 0.70710678118654752440084436210484904L), 4.5)
ALL_ARGUMENTS(Cbrtf, __nv_cbrtf, std::cbrt(x), 0.51)
ALL_ARGUMENTS(Rcbrtf, __nv_rcbrtf, 1 / std::cbrt(x), 0.51)

/// Numbers of all magnitudes, with those around which functions of two have special cases, in pairs.
template <typename Check>
void for_pairs(int count, Check check) {
  constexpr float kSpecial[] = {
      0.0f, 0x1p-149f, 0x1p-126f,   0.5f,    0x1.fffffep-1f, 1.0f,       0x1.000002p+0f,   1.5f,     2.0f, 3.0f,
      4.0f, 0x1p23f,   0x1p23f + 1, 0x1p24f, 0x1p24f - 1,    0x1.8p127f, 0x1.fffffep+127f, INFINITY, NAN};
  for (const float x : kSpecial)
    for (const float y : kSpecial)
      for (const float a : {x, -x})
        for (const float b : {y, -y}) check(a, b);
  std::mt19937 random(1);
  std::normal_distribution<float> near(0, 4);
  for (int i = 0; i < count; ++i) {
    const float x = __builtin_bit_cast(float, static_cast<unsigned int>(random()));
    const float y = __builtin_bit_cast(float, static_cast<unsigned int>(random()));
    check(x, y);
    check(x, near(random));
    check(std::exp2(near(random)), near(random) * 20);
    check(near(random), near(random));
    check(std::fabs(x), std::log(std::fabs(y)) / std::log(std::fabs(x)));  // powers of all magnitudes
  }
}
template <typename Function, typename Exact>
void check_pairs(Function function, Exact exact, double bound) {
  double worst = 0;
  for_pairs(100000, [&](float x, float y) {
    const float got = function(x, y);
    const double error = ulps(got, exact(static_cast<long double>(x), static_cast<long double>(y)));
    if (error > worst) {
      worst = error;
      EXPECT_LE(error, bound) << std::hexfloat << x << ", " << y << ": " << got;
    }
  });
  if (std::getenv("CUPOLA_STRIDE")) std::printf("%.4f ulp at most\n", worst);
}
TEST(Elementary, Powf) {
  check_pairs(__nv_powf, [](long double x, long double y) { return std::pow(x, y); }, 1);
}
TEST(Elementary, Atan2f) {
  check_pairs(__nv_atan2f, [](long double y, long double x) { return std::atan2(y, x); }, 1.6);
}
TEST(Elementary, Hypotf) {
  check_pairs(__nv_hypotf, [](long double x, long double y) { return std::hypot(x, y); }, 1.25);
}

/// As ulps, for double; the long double's own error, 2^-11 ulp, is let pass.
double ulps_of_double(double got, long double exact) {
  if (std::isnan(got) || std::isnan(exact)) return std::isnan(got) && std::isnan(exact) ? 0 : INFINITY;
  const double rounded = static_cast<double>(exact);
  if (got == rounded && (got == 0 || std::isinf(got))) return std::signbit(got) == std::signbit(rounded) ? 0 : INFINITY;
  if (std::isinf(exact)) return INFINITY;
  const int exponent = std::max(std::ilogb(exact) - 52, -1074);
  const long double value = std::isinf(got) ? std::copysign(0x1p1024L, static_cast<long double>(got)) : got;
  return static_cast<double>(std::fabs(value - exact) / std::scalbn(1.0L, exponent));
}
template <typename Function, typename Exact>
void check_doubles(Function function, Exact exact, double low, double high, double bound) {
  double worst = 0;
  const auto check = [&](double x) {
    const double error = ulps_of_double(function(x), exact(static_cast<long double>(x)));
    if (error <= worst) return;
    worst = error;
    EXPECT_LE(error, bound) << std::hexfloat << x;
  };
  for (const double x : {0.0, 0x1p-1074, 0x1p-1022, 0x1.fffffffffffffp1023, 1.0, 709.78, 709.79, 745.13, 745.14, 0x1p16,
                         0x1.0000001p16, static_cast<double>(INFINITY), static_cast<double>(NAN)})
    check(x), check(-x);
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    check(low + (high - low) * std::scalbn(static_cast<double>(random() >> 11), -53));
    check(__builtin_bit_cast(double, static_cast<unsigned long long>(random())));
    check(std::scalbn(1 + std::scalbn(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 24) - 20));
    check(static_cast<double>(random() >> 50) * 1.5707963267948966);  // near zeros of sine and cosine
  }
  if (std::getenv("CUPOLA_STRIDE")) std::printf("%.4f ulp at most\n", worst);
}
TEST(Elementary, Exp) {
  check_doubles(__nv_exp, [](long double x) { return std::exp(x); }, -746, 711, 0.9);
}
TEST(Elementary, Log) {
  check_doubles(__nv_log, [](long double x) { return std::log(x); }, 0, 4, 0.9);
}
TEST(Elementary, Sin) {
  check_doubles(__nv_sin, [](long double x) { return std::sin(x); }, -10, 10, 1.5);
}
TEST(Elementary, Cos) {
  check_doubles(__nv_cos, [](long double x) { return std::cos(x); }, -10, 10, 1.5);
}

}  // namespace
