#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

enum class AirMode {
  Experimental,  ///< AIR that Cupola writes
  Xcrun,         ///< what Apple's compiler makes of Cupola's MSL
};

struct AirEmitOptions {
  std::string input, output;  ///< no output: the input's name with .metallib for its ending, in the current folder
  AirMode mode = AirMode::Experimental;
  bool overwrite = false;
  std::vector<std::string> flags;  ///< cupolac's, for a .cu file
};

/// Makes a .metallib file of a file's kernels (as compiled_code has it; .metal files with xcrun only) and prints its
/// name. Errors: InvalidValue where the output is there already; NotSupported for xcrun where there is none, and for
/// what has no form on Metal, with the place; those of compiled_code.
Result<> air_emit(const AirEmitOptions& options, const std::filesystem::path& root);

}  // namespace cupola::tool
