#include "exact.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace cupola::libdevicetest {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr mpfr_rnd_t kNearest = MPFR_RNDN;

// -- functions that MPFR lacks --

void reciprocal(Number& x) {
  const bool negative_zero = mpfr_zero_p(x) && mpfr_signbit(x);
  mpfr_ui_div(x, 1, x, kNearest);
  if (negative_zero) mpfr_set_inf(x, -1);
}

/// Root of the sum of squares; any infinity wins over NaN.
void norm(Number& result, std::span<const double> x) {
  bool infinite = false;
  mpfr_set_zero(result, 1);
  Number square;
  for (const double value : x) {
    infinite |= std::isinf(value);
    mpfr_set_d(square, value, kNearest);
    mpfr_sqr(square, square, kNearest);
    mpfr_add(result, result, square, kNearest);
  }
  mpfr_sqrt(result, result, kNearest);
  if (infinite) mpfr_set_inf(result, 1);
}

/// exp(x^2) erfc(x); from 2^20 DLMF 7.12.1.
void scaled_erfc(Number& result, double x) {
  if (std::isinf(x)) return x > 0 ? mpfr_set_zero(result, 1) : mpfr_set_inf(result, 1);
  Number square(x), power;
  mpfr_sqr(square, square, kNearest);
  if (x < 0x1p20) {
    mpfr_exp(power, square, kNearest);
    mpfr_set_d(result, x, kNearest);
    mpfr_erfc(result, result, kNearest);
    mpfr_mul(result, result, power, kNearest);
    return;
  }
  Number sum(0.0);
  for (int k = 6; k > 0; --k) {  // -(2k-1)/(2 x^2) (1 + ...)
    mpfr_add_ui(sum, sum, 1, kNearest);
    mpfr_mul_si(sum, sum, -(2 * k - 1), kNearest);
    mpfr_div(sum, sum, square, kNearest);
    mpfr_div_ui(sum, sum, 2, kNearest);
  }
  mpfr_add_ui(sum, sum, 1, kNearest);
  mpfr_const_pi(power, kNearest);
  mpfr_sqrt(power, power, kNearest);
  mpfr_mul_d(power, power, x, kNearest);
  mpfr_div(result, sum, power, kNearest);
}

/// erfc(-x / sqrt 2) / 2
void normal(Number& result, const Number& x) {
  Number root(2.0);
  mpfr_sqrt(root, root, kNearest);
  mpfr_div(result, x, root, kNearest);
  mpfr_neg(result, result, kNearest);
  mpfr_erfc(result, result, kNearest);
  mpfr_div_2ui(result, result, 1, kNearest);
}

/// Halley's steps from `start` towards the y with erfc(y) = q, or erf(y) = q; q lies inside the range of values.
void improve(Number& y, const Number& q, bool complement, double start) {
  mpfr_set_d(y, std::isfinite(start) ? start : 0.0, kNearest);
  Number value, slope, step, factor;
  for (int i = 0; i < 2; ++i) {  // from 24 right bits to more than 160
    complement ? mpfr_erfc(value, y, kNearest) : mpfr_erf(value, y, kNearest);
    mpfr_sub(value, value, q, kNearest);
    mpfr_sqr(slope, y, kNearest);  // 2/sqrt(pi) exp(-y^2)
    mpfr_neg(slope, slope, kNearest);
    mpfr_exp(slope, slope, kNearest);
    mpfr_mul_2ui(slope, slope, 1, kNearest);
    mpfr_const_pi(factor, kNearest);
    mpfr_sqrt(factor, factor, kNearest);
    mpfr_div(slope, slope, factor, kNearest);
    if (complement) mpfr_neg(slope, slope, kNearest);
    mpfr_div(step, value, slope, kNearest);
    mpfr_mul(factor, y, step, kNearest);  // step / (1 + y step)
    mpfr_add_ui(factor, factor, 1, kNearest);
    mpfr_div(step, step, factor, kNearest);
    mpfr_sub(y, y, step, kNearest);
  }
}

/// The y with erf(y) = x, from the result that is being checked.
void inverse_erf(Number& y, double x, double start) {
  if (!(std::fabs(x) <= 1)) return mpfr_set_nan(y);
  if (std::fabs(x) == 1) return mpfr_set_inf(y, x > 0 ? 1 : -1);
  if (x == 0) {
    mpfr_set_d(y, x, kNearest);
    return;
  }
  improve(y, Number(x), false, start);
}
/// The y with erfc(y) = q; exactly 1 - q near 1, where y is small.
void inverse_erfc(Number& y, const Number& q, double start) {
  if (mpfr_nan_p(q) || mpfr_cmp_ui(q, 0) < 0 || mpfr_cmp_ui(q, 2) > 0) return mpfr_set_nan(y);
  if (mpfr_zero_p(q) || mpfr_cmp_ui(q, 2) == 0) return mpfr_set_inf(y, mpfr_zero_p(q) ? 1 : -1);
  if (mpfr_cmp_ui(q, 1) == 0) return mpfr_set_zero(y, 1);
  if (mpfr_cmp_d(q, 0.5) < 0 || mpfr_cmp_d(q, 1.5) > 0) return improve(y, q, true, start);
  Number rest;
  mpfr_ui_sub(rest, 1, q, kNearest);
  improve(y, rest, false, start);
}
void inverse_normal(Number& y, double p, double start) {
  Number root(2.0), q(p);
  mpfr_sqrt(root, root, kNearest);
  mpfr_mul_2ui(q, q, 1, kNearest);
  inverse_erfc(y, q, start / -1.41421356237309504880);
  mpfr_mul(y, y, root, kNearest);
  if (!mpfr_zero_p(y)) mpfr_neg(y, y, kNearest);
}

/// DLMF 10.25.2; all terms are positive.
void bessel_i(Number& result, unsigned order, double x) {
  if (std::isnan(x)) return mpfr_set_nan(result);
  if (std::fabs(x) > 1000) return mpfr_set_inf(result, order && x < 0 ? -1 : 1);  // beyond every double
  Number square(x), term(1.0);
  mpfr_sqr(square, square, kNearest);
  mpfr_div_2ui(square, square, 2, kNearest);
  mpfr_set_ui(result, 1, kNearest);
  const unsigned terms = 60 + static_cast<unsigned>(2 * std::fabs(x));
  for (unsigned k = 1; k < terms; ++k) {
    mpfr_mul(term, term, square, kNearest);
    mpfr_div_ui(term, term, static_cast<unsigned long>(k) * (k + order), kNearest);
    mpfr_add(result, result, term, kNearest);
    if (mpfr_get_exp(term) < mpfr_get_exp(result) - 180) break;
  }
  if (order) mpfr_mul_d(result, result, x / 2, kNearest);
  if (order && std::fabs(x) < 0x1p-1000) mpfr_set_d(result, x, kNearest), mpfr_div_2ui(result, result, 1, kNearest);
}

void log_gamma(Number& result, const Number& x) {
  int sign = 0;
  mpfr_lgamma(result, &sign, x, kNearest);
}
void bessel_jn(Number& result, long order, const Number& x) {
  if (order < 0) return mpfr_set_nan(result);
  mpfr_jn(result, order, x, kNearest);
}
void bessel_yn(Number& result, long order, const Number& x) {
  if (order < 0) return mpfr_set_nan(result);
  mpfr_yn(result, order, x, kNearest);
}

// -- the oracles by name --

using Function = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using FunctionOfTwo = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

constexpr std::pair<std::string_view, Function> kFunctions[] = {
    {"exp", mpfr_exp},      {"exp2", mpfr_exp2},   {"exp10", mpfr_exp10}, {"expm1", mpfr_expm1}, {"log", mpfr_log},
    {"log2", mpfr_log2},    {"log10", mpfr_log10}, {"log1p", mpfr_log1p}, {"sin", mpfr_sin},     {"cos", mpfr_cos},
    {"tan", mpfr_tan},      {"sinpi", mpfr_sinpi}, {"cospi", mpfr_cospi}, {"asin", mpfr_asin},   {"acos", mpfr_acos},
    {"atan", mpfr_atan},    {"sinh", mpfr_sinh},   {"cosh", mpfr_cosh},   {"tanh", mpfr_tanh},   {"asinh", mpfr_asinh},
    {"acosh", mpfr_acosh},  {"atanh", mpfr_atanh}, {"cbrt", mpfr_cbrt},   {"erf", mpfr_erf},     {"erfc", mpfr_erfc},
    {"tgamma", mpfr_gamma}, {"j0", mpfr_j0},       {"j1", mpfr_j1},       {"y0", mpfr_y0},       {"y1", mpfr_y1},
    {"sqrt", mpfr_sqrt},
};
constexpr std::pair<std::string_view, FunctionOfTwo> kFunctionsOfTwo[] = {
    {"pow", mpfr_pow}, {"atan2", mpfr_atan2}, {"hypot", mpfr_hypot}, {"fast_fdividef", mpfr_div}};

std::vector<double> array_of(const Row& row, std::span<const Slot> inputs) {
  std::vector<double> values(inputs[0]);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = row.arguments().back() == 'q' ? std::bit_cast<double>(inputs[1 + i])
                                              : number_of('f', inputs[1 + i / 2] >> (i % 2 * 32) & 0xffffffffu);
  return values;
}

/// The exact value of output `place`; `start` is what is being checked. False: no oracle.
bool exact_value(const Row& row, std::span<const Slot> inputs, size_t place, double start, Number& exact) {
  const std::string_view oracle = row.oracle, letters = row.arguments();
  std::vector<double> x;
  for (size_t i = 0; i < inputs.size() && i < letters.size(); ++i)
    if (letters[i] == 'f' || letters[i] == 'd') x.push_back(number_of(letters[i], inputs[i]));
  if (letters == "ip" || letters == "iq") x = array_of(row, inputs);
  const Number first(x.empty() ? 0.0 : x[0]), second(x.size() > 1 ? x[1] : 0.0);
  for (const auto& [name, function] : kFunctions)
    if (oracle == name) return function(exact, first, kNearest), true;
  for (const auto& [name, function] : kFunctionsOfTwo)
    if (oracle == name) return function(exact, first, second, kNearest), true;
  if (oracle == "sincos") return (place ? mpfr_cos : mpfr_sin)(exact, first, kNearest), true;
  if (oracle == "sincospi") return (place ? mpfr_cospi : mpfr_sinpi)(exact, first, kNearest), true;
  if (oracle == "rsqrt") return mpfr_sqrt(exact, first, kNearest), reciprocal(exact), true;
  if (oracle == "rcbrt") return mpfr_cbrt(exact, first, kNearest), reciprocal(exact), true;
  if (oracle == "rcp64h") return mpfr_set(exact, first, kNearest), reciprocal(exact), true;
  if (oracle == "norm" || oracle == "norm3d" || oracle == "norm4d") return norm(exact, x), true;
  if (oracle == "rnorm" || oracle == "rnorm3d" || oracle == "rnorm4d" || oracle == "rhypot")
    return norm(exact, x), reciprocal(exact), true;
  if (oracle == "powi") return mpfr_pow_si(exact, first, static_cast<int>(inputs[1]), kNearest), true;
  if (oracle == "erfcx") return scaled_erfc(exact, x[0]), true;
  if (oracle == "erfinv") return inverse_erf(exact, x[0], start), true;
  if (oracle == "erfcinv") return inverse_erfc(exact, first, start), true;
  if (oracle == "normcdf") return normal(exact, first), true;
  if (oracle == "normcdfinv") return inverse_normal(exact, x[0], start), true;
  if (oracle == "lgamma") return log_gamma(exact, first), true;
  if (oracle == "jn") return bessel_jn(exact, static_cast<int>(inputs[0]), first), true;
  if (oracle == "yn") return bessel_yn(exact, static_cast<int>(inputs[0]), first), true;
  if (oracle == "cyl_bessel_i0") return bessel_i(exact, 0, x[0]), true;
  if (oracle == "cyl_bessel_i1") return bessel_i(exact, 1, x[0]), true;
  if (oracle == "fast_powf") {
    mpfr_log2(exact, first, kNearest);
    mpfr_mul(exact, exact, second, kNearest);
    mpfr_exp2(exact, exact, kNearest);
    return true;
  }
  return false;
}

/// What the distance is measured in besides ulps: the power by its definition loses what the exponent's rounding costs,
/// 1/x's upper half has 20
/// bits, recurrences lose with each step.
double scale_of(const Row& row, std::span<const Slot> inputs) {
  if (row.oracle == "rcp64h") return 0x1p33;
  if (row.oracle == "yn") return 2 + 2.5 * static_cast<double>(inputs[0] & 0x7fffffff);  // as CUDA's bound for ynf
  if (row.oracle != "fast_powf") return 1;
  return 1 + std::fabs(number_of('f', inputs[1]) * std::log2(number_of('f', inputs[0])));
}

}  // namespace

double number_of(char letter, Slot slot) {
  return letter == 'f' ? std::bit_cast<float>(static_cast<uint32_t>(slot)) : std::bit_cast<double>(slot);
}
Slot slot_of(char letter, double value) {
  return letter == 'f' ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
}

Distance distance(const Row& row, std::span<const Slot> inputs, std::span<const Slot> outputs, size_t place,
                  bool& known) {
  const char letter = output_letters(row)[place];
  const double got = number_of(letter, outputs[place]);
  const int digits = letter == 'f' ? 24 : 53, least = letter == 'f' ? -149 : -1074, most = letter == 'f' ? 128 : 1024;
  Number exact, difference;
  known = exact_value(row, inputs, place, got, exact);
  if (!known) return {};
  const Distance wrong = {kInfinity, kInfinity};
  if (mpfr_nan_p(exact) || std::isnan(got)) return mpfr_nan_p(exact) && std::isnan(got) ? Distance{} : wrong;
  // MPFR's j1(-infinity) is +0; "CUDA Math API, j1" leaves the sign open.
  if (got == 0 && mpfr_zero_p(exact) && (row.oracle == "j1" || row.oracle == "jn")) return {};
  if (mpfr_zero_p(exact)) return got == 0 && std::signbit(got) == (mpfr_signbit(exact) != 0) ? Distance{} : wrong;
  if (std::signbit(got) != (mpfr_signbit(exact) != 0) && (got == 0 || std::isinf(got))) return wrong;
  if (mpfr_inf_p(exact) && std::isinf(got)) return {};
  // Infinity stands for the power of two beyond the greatest number.
  const double sign = mpfr_signbit(exact) ? -1 : 1;
  if (mpfr_inf_p(exact) || mpfr_get_exp(exact) > most) {
    if (std::isinf(got)) return {};
    mpfr_set_d(exact, sign, kNearest);
    mpfr_mul_2si(exact, exact, most, kNearest);
  }
  const long exponent = std::max<long>(mpfr_get_exp(exact) - digits, least);
  if (std::isinf(got)) {
    mpfr_set_d(difference, got > 0 ? 1 : -1, kNearest);
    mpfr_mul_2si(difference, difference, most, kNearest);
  } else {
    mpfr_set_d(difference, got, kNearest);
  }
  mpfr_sub(difference, difference, exact, kNearest);
  mpfr_abs(difference, difference, kNearest);
  Distance result;
  result.absolute = std::isinf(got) ? kInfinity : mpfr_get_d(difference, kNearest);
  mpfr_mul_2si(difference, difference, -exponent, kNearest);
  result.ulps = mpfr_get_d(difference, kNearest) / scale_of(row, inputs);
  return result;
}

}  // namespace cupola::libdevicetest
