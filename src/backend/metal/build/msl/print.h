#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace cupola::metal::build {

struct Raised;

/// Versions of MSL as their numbers say: 30 is 3.0.
inline constexpr uint32_t kMsl30 = 30;

/// A module as MSL source.
struct MslSource {
  std::string text;
  uint32_t version = kMsl30;  ///< the lowest that has all the text uses
};

/// Prints a raised module: a function in MSL for each of the module's, kernels by their entries, readable, with the
/// program's source lines where the module knows them. Kernels with what has no form in MSL, or in versions up to
/// `newest`, are refused; the text is that of the others.
MslSource print_msl(Raised& raised, uint32_t newest = UINT32_MAX);

}  // namespace cupola::metal::build
