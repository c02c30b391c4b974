#pragma once

#include <string>

namespace cupola {

/// A symbol as its source has it: "scale(float*)" of "_Z5scalePf". Names that are not C++'s stay as they are.
/// See https://itanium-cxx-abi.github.io/cxx-abi/abi.html#mangling.
std::string demangled(const std::string& symbol);

}  // namespace cupola
