#pragma once

#include <cstdint>
#include <vector>

#include "cases.h"

namespace cupola::ptxtest {

/// Further operand sets of an approximate form, set after set: the ranges that its bounds are about, densely; all
/// values of a half. The same in every run.
std::vector<uint64_t> sweep_of(const Case& of);

}  // namespace cupola::ptxtest
