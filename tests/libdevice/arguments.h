#pragma once

#include <vector>

#include "rows.h"

namespace cupola::libdevicetest {

/// Inputs for `count` calls at least: every special value, for functions of two and three in all pairs and many
/// triples, then random ones of all magnitudes, near special values, near multiples of pi/2, and in the row's range.
std::vector<Slot> arguments_of(const Row& row, unsigned count, uint64_t seed);

}  // namespace cupola::libdevicetest
