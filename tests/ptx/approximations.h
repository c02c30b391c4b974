#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "cases.h"

namespace cupola::ptxtest {

/// Whether outputs of a Comparison::Bound case lie within the error that PTX ISA documents for the form, measured
/// against the true value (long double). An empty string, or what is wrong.
std::string out_of_bound(const Case& of, std::span<const uint64_t> inputs, uint64_t output);

/// The reference's special results (NaN, infinity) of an edge case must be ours too.
bool same_special(const Case& of, uint64_t reference, uint64_t output);

}  // namespace cupola::ptxtest
