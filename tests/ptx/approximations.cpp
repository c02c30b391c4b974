#include "approximations.h"

#include <mpfr.h>

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "operands.h"

// Oracle: GNU MPFR at 200 bits, whose functions are correctly rounded. Beside a bound its error is nothing.

namespace cupola::ptxtest {
namespace {

using ptx::Type;

constexpr mpfr_prec_t kPrecision = 200;
constexpr double kPi = 3.14159265358979323846, kAll = HUGE_VAL;

// Source: PTX ISA 9.0, the notes of each instruction's page ("The maximum ... error is"). Where it documents nothing,
// the bound is ours and says so.
constexpr Bound kBounds[] = {
    {"div", "f32", "approx", Measure::Ulp, 2, 0x1p-126, 0x1p126, "divisor 2^-126 to 2^126", "PTX ISA, div"},
    {"div", "f32", "approx", Measure::Ulp, 2, 0, kAll, "other divisors", "not documented"},
    {"div", "f32", "full", Measure::Ulp, 2, 0, kAll, "", "PTX ISA, div"},
    {"rcp", "f32", "approx", Measure::Ulp, 1, 0, kAll, "", "PTX ISA, rcp"},
    {"rcp", "f64", "approx", Measure::Relative, -20, 0, kAll, "", "not documented: the result has 20 bits"},
    {"sqrt", "f32", "approx", Measure::Relative, -23, 0, kAll, "", "PTX ISA, sqrt"},
    {"rsqrt", "f32", "approx", Measure::Relative, -22.9, 0, kAll, "", "PTX ISA, rsqrt"},
    {"rsqrt", "f64", "ftz", Measure::Relative, -20, 0, kAll, "", "not documented: the result has 20 bits"},
    {"rsqrt", "f64", "approx", Measure::Ulp, 2, 0, kAll, "", "not documented"},
    {"sin", "f32", "approx", Measure::Absolute, -20.5, 0, 2 * kPi, "-2π to 2π", "PTX ISA, sin"},
    {"sin", "f32", "approx", Measure::Absolute, -14.7, 0, 100 * kPi, "-100π to 100π", "PTX ISA, sin"},
    {"sin", "f32", "approx", Measure::Open, 0, 0, kAll, "beyond", "PTX ISA, sin"},
    {"cos", "f32", "approx", Measure::Absolute, -20.5, 0, 2 * kPi, "-2π to 2π", "PTX ISA, cos"},
    {"cos", "f32", "approx", Measure::Absolute, -14.7, 0, 100 * kPi, "-100π to 100π", "PTX ISA, cos"},
    {"cos", "f32", "approx", Measure::Open, 0, 0, kAll, "beyond", "PTX ISA, cos"},
    {"lg2", "f32", "approx", Measure::Absolute, -22, 0.5, 2, "0.5 to 2", "PTX ISA, lg2"},
    {"lg2", "f32", "approx", Measure::Relative, -22, 0, kAll, "beyond", "PTX ISA, lg2"},
    {"ex2", "f32", "approx", Measure::Ulp, 2, 0, kAll, "", "PTX ISA, ex2"},
    {"tanh", "f32", "approx", Measure::Relative, -11, 0, kAll, "", "PTX ISA, tanh"},
    {"tanh", "f16", "approx", Measure::Absolute, -10.987, 0, kAll, "", "PTX ISA, tanh of halves"},
    {"tanh", "f16x2", "approx", Measure::Absolute, -10.987, 0, kAll, "", "PTX ISA, tanh of halves"},
    {"tanh", "bf16", "approx", Measure::Absolute, -8, 0, kAll, "", "PTX ISA, tanh of halves"},
    {"tanh", "bf16x2", "approx", Measure::Absolute, -8, 0, kAll, "", "PTX ISA, tanh of halves"},
    {"ex2", "f16", "approx", Measure::Relative, -9.9, 0, kAll, "", "PTX ISA, ex2 of halves"},
    {"ex2", "f16x2", "approx", Measure::Relative, -9.9, 0, kAll, "", "PTX ISA, ex2 of halves"},
    {"ex2", "bf16", "approx", Measure::Relative, -7, 0, kAll, "", "PTX ISA, ex2 of halves"},
    {"ex2", "bf16x2", "approx", Measure::Relative, -7, 0, kAll, "", "PTX ISA, ex2 of halves"},
};

class Number {
 public:
  Number() { mpfr_init2(value_, kPrecision); }
  explicit Number(double value) : Number() { mpfr_set_d(value_, value, MPFR_RNDN); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  ~Number() { mpfr_clear(value_); }
  mpfr_ptr get() { return value_; }
  mpfr_srcptr get() const { return value_; }
  double nearest() const { return mpfr_get_d(value_, MPFR_RNDN); }

 private:
  mpfr_t value_;
};

struct Format {
  int mantissa_bits, least_exponent, greatest_exponent;
  double least_normal() const { return std::ldexp(1, least_exponent); }
  double least_subnormal() const { return std::ldexp(1, least_exponent - mantissa_bits); }
};
Format format_of(Type type) {
  if (type == Type::F64) return {52, -1022, 1023};
  if (type == Type::F16) return {10, -14, 15};
  return {type == Type::BF16 ? 7 : 23, -126, 127};
}

Type element_type(Type type) {
  return type == Type::F16x2 ? Type::F16 : type == Type::BF16x2 ? Type::BF16 : type;
}

bool has_word(std::string_view form, std::string_view word) {
  if (word.empty()) return true;
  const size_t at = form.find(formatted(".{}", word));
  if (at == std::string_view::npos) return false;
  const size_t end = at + 1 + word.size();
  return end == form.size() || form[end] == '.';
}

std::string_view opcode_of(const Case& of) {
  return std::string_view(of.form).substr(0, of.form.find('.'));
}

const Bound* bound_of(const Case& of, double operand) {
  for (const Bound& bound : kBounds)
    if (opcode_of(of) == bound.opcode && of.form.ends_with(formatted(".{}", bound.type)) &&
        has_word(of.form, bound.word) && std::fabs(operand) >= bound.low && std::fabs(operand) <= bound.high)
      return &bound;
  return nullptr;
}

void compute_exact(std::string_view opcode, double a, double b, Number& exact) {
  const Number x(a);
  if (opcode == "div") mpfr_div(exact.get(), x.get(), Number(b).get(), MPFR_RNDN);
  if (opcode == "rcp") mpfr_ui_div(exact.get(), 1, x.get(), MPFR_RNDN);
  if (opcode == "sqrt" || opcode == "rsqrt") mpfr_sqrt(exact.get(), x.get(), MPFR_RNDN);
  if (opcode == "rsqrt") mpfr_ui_div(exact.get(), 1, exact.get(), MPFR_RNDN);  // mpfr_rec_sqrt ignores the sign of -0
  if (opcode == "sin") mpfr_sin(exact.get(), x.get(), MPFR_RNDN);
  if (opcode == "cos") mpfr_cos(exact.get(), x.get(), MPFR_RNDN);
  if (opcode == "lg2") mpfr_log2(exact.get(), x.get(), MPFR_RNDN);
  if (opcode == "ex2") mpfr_exp2(exact.get(), x.get(), MPFR_RNDN);
  if (opcode == "tanh") mpfr_tanh(exact.get(), x.get(), MPFR_RNDN);
}

/// "For 2^126 < |b| < 2^128, if a is infinity, div.approx.f32 returns NaN, otherwise it returns a sign-preserving
/// zero." The reference's div.full gives a NaN too, which the ISA leaves open.
bool is_large_divisor_result(const Case& of, double a, double b, double output) {
  if (opcode_of(of) != "div" || std::fabs(b) <= 0x1p126 || !std::isfinite(b)) return false;
  if (std::isinf(a)) return std::isnan(output);
  return has_word(of.form, "approx") && output == 0 && std::signbit(output) == (std::signbit(a) != std::signbit(b));
}

/// One element of a form's operands, as the form sees them.
struct Operands {
  const Case& of;
  Format format;
  bool flushes, upper_words;  ///< the .f64 forms with .ftz read the operand's upper half and write the result's
  unsigned shift;
  double a = 0, b = 0;

  Operands(const Case& of, std::span<const uint64_t> inputs, unsigned element)
      : of(of),
        format(format_of(element_type(of.outputs[0].type))),
        flushes(has_word(of.form, "ftz")),
        upper_words(flushes && of.outputs[0].type == Type::F64),
        shift(16 * element) {
    if (!inputs.empty()) a = operand(inputs[0]);
    if (inputs.size() > 1) b = operand(inputs[1]);
  }
  double decode(uint64_t bits) const {
    const Type whole = of.outputs[0].type, type = element_type(whole);
    return decoded(type, type == whole ? bits : bits >> shift & 0xffff);
  }
  double operand(uint64_t bits) const {
    const double value = decode(upper_words ? bits & ~0xffffffffULL : bits);
    return flushes && std::fabs(value) < format.least_normal() ? std::copysign(0.0, value) : value;
  }
  const Bound* bound() const { return bound_of(of, opcode_of(of) == "div" ? b : a); }
};

/// Where the exact value leaves no room for an error: NaN, infinity, zero, a result that .ftz flushes.
std::optional<Judgement> special(const Operands& operands, const Number& exact, double output) {
  const double truth = exact.nearest();
  const auto verdict = [&](bool good, std::string_view what) {
    return Judgement{.wrong = good ? "" : formatted("{} for {}", output, what)};
  };
  if (std::isnan(truth)) return verdict(std::isnan(output), "a NaN");
  if (std::isnan(output)) return verdict(false, formatted("{}", truth));
  if (mpfr_inf_p(exact.get()))
    return verdict(std::isinf(output) && (output > 0) == (truth > 0), formatted("{}", truth));
  if (mpfr_zero_p(exact.get()))
    return verdict(output == 0 && std::signbit(output) == (mpfr_signbit(exact.get()) != 0), formatted("{}", truth));
  // An approximation just below the least normal number is flushed even where the exact value is just above.
  const Format& format = operands.format;
  const double flushed_below = format.least_normal() * (1 + std::ldexp(2, -format.mantissa_bits));
  if (operands.flushes && output == 0 && std::fabs(truth) < flushed_below &&
      std::signbit(output) == std::signbit(truth))
    return Judgement{};
  return {};
}

double logarithm(double error) {
  return error == 0 ? -HUGE_VAL : std::log2(error);
}

/// The error of an output whose exact value is a number. Infinity counts as the number behind the greatest.
Judgement measured_error(const Bound& bound, const Format& format, Number& exact, double output) {
  const Number greatest_power(std::ldexp(1, format.greatest_exponent));
  Number ours(output);
  if (std::isinf(output)) mpfr_mul_si(ours.get(), greatest_power.get(), output > 0 ? 2 : -2, MPFR_RNDN);
  if (std::isinf(output) && mpfr_cmpabs(exact.get(), ours.get()) > 0 && (mpfr_sgn(exact.get()) > 0) == (output > 0))
    return {};
  Number difference;
  mpfr_sub(difference.get(), ours.get(), exact.get(), MPFR_RNDN);
  const double error = std::fabs(difference.nearest()), truth = std::fabs(exact.nearest());
  const int exponent = std::max(static_cast<int>(mpfr_get_exp(exact.get())) - 1, format.least_exponent);
  double value = 0;
  switch (bound.measure) {
    case Measure::Ulp:
      value = std::ldexp(error, format.mantissa_bits - exponent);
      break;
    case Measure::Relative:
      // Among the subnormal numbers there is no relative error; one unit is allowed.
      if (truth < format.least_normal() && error <= format.least_subnormal()) return {};
      value = logarithm(error / truth);
      break;
    case Measure::Absolute:
      value = logarithm(error);
      break;
    case Measure::Open:
      return {.wrong = std::fabs(output) <= 1 ? "" : formatted("{} for {}", output, exact.nearest())};
  }
  Judgement made{.bound = &bound, .error = value};
  if (value > bound.limit)
    made.wrong =
        formatted("{:.9g} for {:.9g}: {}, allowed {}", output, exact.nearest(), bound.text(value), bound.text());
  return made;
}

}  // namespace

std::string Bound::text(double value) const {
  switch (measure) {
    case Measure::Ulp:
      return formatted("{:.4g} ulp", value);
    case Measure::Relative:
    case Measure::Absolute: {
      const std::string_view what = measure == Measure::Relative ? "relative" : "absolute";
      return std::isinf(value) ? formatted("0 {}", what) : formatted("2^{:.5g} {}", value, what);
    }
    case Measure::Open:
      return "";
  }
  return "";
}

unsigned elements_of(const Case& of) {
  return element_type(of.outputs[0].type) == of.outputs[0].type ? 1 : 2;
}

Judgement judged(const Case& of, std::span<const uint64_t> inputs, uint64_t output, unsigned element) {
  const Operands operands(of, inputs, element);
  const double result = operands.decode(output);
  if (is_large_divisor_result(of, operands.a, operands.b, result)) return {};
  if (operands.upper_words && !std::isnan(result) && (output & 0xffffffff) != 0)
    return {.wrong = "the result's lower word is not zero"};
  Number exact;
  compute_exact(opcode_of(of), operands.a, operands.b, exact);
  if (auto known = special(operands, exact, result)) return *known;
  const Bound* bound = operands.bound();
  if (!bound) return {.wrong = "the test has no error bound for this form"};
  return measured_error(*bound, operands.format, exact, result);
}

Judgement compared(const Case& of, std::span<const uint64_t> inputs, uint64_t reference, uint64_t output,
                   unsigned element) {
  const Operands operands(of, inputs, element);
  const double theirs = operands.decode(reference), ours = operands.decode(output);
  const Bound* bound = operands.bound();
  const bool is_large_divisor = is_large_divisor_result(of, operands.a, operands.b, theirs);
  if (std::isnan(theirs)) return {.wrong = std::isnan(ours) || is_large_divisor ? "" : formatted("{} for NaN", ours)};
  if (!bound || bound->measure == Measure::Open || theirs == ours || (operands.flushes && (theirs == 0 || ours == 0)))
    return {};  // judged() has seen to what is flushed
  Number exact(theirs);
  if (std::isinf(theirs))
    mpfr_set_d(exact.get(), std::copysign(std::ldexp(1, operands.format.greatest_exponent), theirs), MPFR_RNDN);
  if (std::isinf(theirs)) mpfr_mul_ui(exact.get(), exact.get(), 2, MPFR_RNDN);
  return measured_error(*bound, operands.format, exact, ours);
}

std::string out_of_bound(const Case& of, std::span<const uint64_t> inputs, uint64_t output) {
  for (unsigned element = 0; element < elements_of(of); ++element)
    if (std::string wrong = judged(of, inputs, output, element).wrong; !wrong.empty()) return wrong;
  return {};
}

bool same_special(const Case& of, uint64_t reference, uint64_t output) {
  const Type type = of.outputs[0].type;
  if (element_type(type) != type) return true;  // the bound says it for each half
  const double theirs = decoded(type, reference), ours = decoded(type, output);
  if (std::isnan(theirs)) return std::isnan(ours) || of.form.starts_with("div");  // see "2^126" above
  if (std::isinf(theirs)) return ours == theirs || std::isfinite(ours);           // the bound has judged overflow
  return true;
}

}  // namespace cupola::ptxtest
