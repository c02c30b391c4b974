#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cases.h"

// The judge of approximate forms: the error that PTX ISA documents, against the exact value that GNU MPFR computes.

namespace cupola::ptxtest {

enum class Measure : uint8_t {
  Ulp,       ///< units in the last place of the exact value
  Relative,  ///< binary logarithm of the error over the exact value
  Absolute,  ///< binary logarithm of the error
  Open,      ///< no bound: a number of at most 1 in size is all that is asked
};

/// The largest error of some forms in a range of their operand (the divisor for div).
struct Bound {
  std::string_view opcode, type;
  std::string_view word;  ///< another word of the form, or empty
  Measure measure;
  double limit;
  double low, high;        ///< it holds for low <= |operand| <= high, and the first of the bounds that hold counts
  std::string_view range;  ///< the same in words; empty where there is but one range
  std::string_view source;

  /// "2 ulp", "2^-22.9 relative"
  std::string text(double value) const;
  std::string text() const { return measure == Measure::Open ? "none" : text(limit); }
};

/// How far an output is from the exact value.
struct Judgement {
  const Bound* bound = nullptr;      ///< none where the exact value is a NaN, an infinity, or flushed to zero
  std::optional<double> error = {};  ///< in the bound's measure (-HUGE_VAL for none at all in logarithms)
  std::string wrong = {};            ///< what breaks the bound or the special results; empty for a good output
};

/// Judges element `element` of the output of a Comparison::Bound case. Elements are the halves of pairs, else the
/// whole.
Judgement judged(const Case& of, std::span<const uint64_t> inputs, uint64_t output, unsigned element);
unsigned elements_of(const Case& of);

/// Judges how far an output is from the reference's, by the same bound.
Judgement compared(const Case& of, std::span<const uint64_t> inputs, uint64_t reference, uint64_t output,
                   unsigned element);

/// What is wrong with any element, or an empty string.
std::string out_of_bound(const Case& of, std::span<const uint64_t> inputs, uint64_t output);

/// The reference's special results (NaN, infinity) of an edge case must be ours too.
bool same_special(const Case& of, uint64_t reference, uint64_t output);

}  // namespace cupola::ptxtest
