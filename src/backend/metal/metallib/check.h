#pragma once

#include <string>
#include <vector>

#include "backend/metal/metallib/container.h"

namespace cupola::metallib {

struct CheckOptions {
  bool require_functions = false;  ///< an empty function list is a problem
  bool require_metadata = false;  ///< so is a kernel whose module lacks air.kernel, air.version or air.language_version
};

/// What is wrong with a container that can be read, a line each: hashes, names, versions that do not go together,
/// modules that are no AIR or do not hold their function, metadata that cannot be read. Empty when nothing is.
std::vector<std::string> check(const Library& library, const CheckOptions& options = {});

}  // namespace cupola::metallib
