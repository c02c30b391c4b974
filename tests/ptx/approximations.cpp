#include "approximations.h"

#include <algorithm>
#include <bit>
#include <cfloat>
#include <cmath>

#include "base/format.h"
#include "operands.h"

// Oracle of the approximate forms: the C library's long double functions, whose own error (below 2^-60) is nothing
// beside the bounds. Each bound is the one of the instruction's page in the PTX ISA.

namespace cupola::ptxtest {
namespace {

using ptx::Type;

using Truth = long double (*)(long double a, long double b);

struct Rule {
  std::string_view opcode;
  std::string_view type;
  std::string_view word;  ///< another word of the form, or empty
  Truth truth;
  long double relative, absolute;  ///< one of them is enough
};

long double divided(long double a, long double b) {
  return a / b;
}
long double inverse(long double a, long double) {
  return 1 / a;
}
long double root(long double a, long double) {
  return sqrtl(a);
}
long double inverse_root(long double a, long double) {
  return 1 / sqrtl(a);
}
long double sine(long double a, long double) {
  return sinl(a);
}
long double cosine(long double a, long double) {
  return cosl(a);
}
long double logarithm(long double a, long double) {
  return log2l(a);
}
long double power(long double a, long double) {
  return exp2l(a);
}
long double hyperbolic(long double a, long double) {
  return tanhl(a);
}

constexpr long double kUlp32 = 0x1p-23L;  // of a number just above a power of two: the most that an ulp can be
constexpr Rule kRules[] = {
    {"div", "f32", "approx", divided, 2 * kUlp32, 0},         // "maximum ulp error is 2"
    {"div", "f32", "full", divided, 2 * kUlp32, 0},           // likewise, over the full range
    {"rcp", "f32", "", inverse, kUlp32, 0},                   // "maximum absolute error of 2^-23 over [1, 2]"
    {"rcp", "f64", "", inverse, 0x1p-18L, 0},                 // reads and writes the upper 32 bits only
    {"sqrt", "f32", "", root, kUlp32, 0},                     // "maximum relative error 2^-23"
    {"rsqrt", "f32", "", inverse_root, 0x1p-22L * 0.94L, 0},  // "2^-22.9"; ours may be off by rounding
    {"rsqrt", "f64", "", inverse_root, 0x1p-18L, 0},          // no bound documented; upper 32 bits
    {"sin", "f32", "", sine, 0, 0x1p-20L * 0.75L},            // "2^-20.5 in [-2pi, 2pi], 2^-14.7 in [-100pi, 100pi]"
    {"cos", "f32", "", cosine, 0, 0x1p-20L * 0.75L},
    {"lg2", "f32", "", logarithm, 0x1p-22L, 0x1p-22L},     // absolute in (0.5, 2), else relative
    {"ex2", "f32", "", power, 2 * kUlp32, 0},              // "2 + floor(abs(1.173 * a)) ulp" until 2^-22
    {"tanh", "f32", "", hyperbolic, 0x1p-11L, 0},          // "maximum relative error 2^-11"
    {"tanh", "f16", "", hyperbolic, 0, 0x1p-10L * 1.01L},  // "maximum absolute error 2^-10.987", rounded to f16
    {"tanh", "f16x2", "", hyperbolic, 0, 0x1p-10L * 1.01L},
    {"tanh", "bf16", "", hyperbolic, 0x1p-7L, 0},  // "2^-8"; the reference is off by 2^-7.65 at 1
    {"tanh", "bf16x2", "", hyperbolic, 0x1p-7L, 0},
    {"ex2", "f16", "", power, 0x1p-9L * 0.54L, 0},  // "maximum relative error 2^-9.9"
    {"ex2", "f16x2", "", power, 0x1p-9L * 0.54L, 0},
    {"ex2", "bf16", "", power, 0x1p-7L, 0},  // "maximum relative error 2^-7"
    {"ex2", "bf16x2", "", power, 0x1p-7L, 0},
};

bool has_word(std::string_view form, std::string_view word) {
  if (word.empty()) return true;
  const size_t at = form.find(formatted(".{}", word));
  if (at == std::string_view::npos) return false;
  const size_t end = at + 1 + word.size();
  return end == form.size() || form[end] == '.';
}

const Rule* rule_of(const Case& of) {
  for (const Rule& rule : kRules)
    if (of.form.starts_with(rule.opcode) && of.form.ends_with(formatted(".{}", rule.type)) &&
        has_word(of.form, rule.word))
      return &rule;
  return nullptr;
}

long double least_normal(Type type) {
  return type == Type::F64 ? 0x1p-1022L : type == Type::F16 ? 0x1p-14L : 0x1p-126L;
}
long double least_subnormal(Type type) {
  return type == Type::F64 ? 0x1p-1074L : type == Type::F16 ? 0x1p-24L : type == Type::BF16 ? 0x1p-133L : 0x1p-149L;
}
long double greatest(Type type) {
  return type == Type::F64    ? static_cast<long double>(DBL_MAX)
         : type == Type::F16  ? 65504.0L
         : type == Type::BF16 ? 0x1.fep127L
                              : static_cast<long double>(FLT_MAX);
}

std::string wrong(std::string_view what, long double truth) {
  return formatted("{} (true value {})", what, static_cast<double>(truth));
}

/// One element of the output.
std::string element_error(const Rule& rule, const Case& of, Type type, long double a, long double b, uint64_t bits) {
  const bool ftz = has_word(of.form, "ftz") || type == Type::BF16;
  const auto flushed = [&](long double v) { return ftz && fabsl(v) < least_normal(type) ? copysignl(0, v) : v; };
  a = flushed(a), b = flushed(b);
  const long double ours = static_cast<long double>(decoded(type, bits));
  if (rule.truth == divided && has_word(of.form, "approx") && fabsl(b) > 0x1p126L && std::isfinite(b)) {
    // "If 2^126 < |b| < 2^128, div.approx delivers 0 for finite a, NaN for infinite a."
    if (std::isinf(a) ? std::isnan(ours) || std::isinf(ours) : ours == 0) return {};
  }
  if (rule.truth == divided && has_word(of.form, "full") && fabsl(b) > 0x1p126L && std::isinf(a) && std::isnan(ours))
    return {};
  const long double truth = rule.truth(a, b);
  if (std::isnan(truth)) return std::isnan(ours) ? "" : wrong("not a NaN", truth);
  if (std::isnan(ours)) return wrong("a NaN", truth);
  long double allowed = std::max(rule.relative * fabsl(truth), rule.absolute);
  if (rule.truth == sine || rule.truth == cosine) {
    if (fabsl(a) > 100 * 3.1415926535897932L) return fabsl(ours) <= 1 ? "" : wrong("outside [-1, 1]", truth);
    if (fabsl(a) > 2 * 3.1415926535897932L) allowed = 0x1p-14L * 0.62L;
  }
  if (rule.truth == logarithm && (a < 0.5L || a > 2)) allowed = rule.relative * fabsl(truth);
  if (std::isinf(truth)) return ours == truth ? "" : wrong("not that infinity", truth);
  if (fabsl(truth) + allowed > greatest(type) && std::isinf(ours) && std::signbit(ours) == std::signbit(truth))
    return {};
  if (fabsl(truth) > greatest(type) && std::isinf(ours)) return {};
  allowed += 2 * least_subnormal(type);
  if (ftz && fabsl(truth) < least_normal(type) * (1 + rule.relative)) allowed += least_normal(type);
  if (fabsl(ours - truth) <= allowed) return {};
  return formatted("{} is off by {:.3g}, allowed {:.3g} (true value {:.9g})", static_cast<double>(ours),
                   static_cast<double>(fabsl(ours - truth)), static_cast<double>(allowed), static_cast<double>(truth));
}

Type element_type(Type type) {
  return type == Type::F16x2 ? Type::F16 : type == Type::BF16x2 ? Type::BF16 : type;
}

}  // namespace

std::string out_of_bound(const Case& of, std::span<const uint64_t> inputs, uint64_t output) {
  const Rule* rule = rule_of(of);
  if (!rule) return "the test has no error bound for this form";
  const Type whole = of.outputs[0].type, type = element_type(whole);
  const unsigned elements = type == whole ? 1 : 2;
  for (unsigned e = 0; e < elements; ++e) {
    const auto element = [&](uint64_t bits) {
      // The .f64 forms with .ftz read the operand's upper half.
      if (type == Type::F64 && has_word(of.form, "ftz")) bits &= ~0xffffffffULL;
      return elements == 1 ? bits : bits >> (16 * e) & 0xffff;
    };
    const auto operand = [&](size_t k) {
      return k < inputs.size() ? static_cast<long double>(decoded(type, element(inputs[k]))) : 0;
    };
    std::string error = element_error(*rule, of, type, operand(0), operand(1), element(output));
    if (!error.empty()) return error;
  }
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
