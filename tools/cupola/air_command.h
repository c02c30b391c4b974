#pragma once

#include <string>

#include "base/result.h"

namespace cupola::tool {

struct AirInspectOptions {
  std::string file;  ///< "-" is standard input
  bool json = false;
};

/// Prints what a .metallib file holds. Errors: FileNotFound; InvalidImage for what cannot be read.
Result<> air_inspect(const AirInspectOptions& options);

struct AirValidateOptions {
  std::string file;
  bool require_function_list = false;
  bool require_metadata = false;
  bool xcrun = false;  ///< ask Apple's compiler too
};

/// Prints each problem of a .metallib file as a line, then a count; returns the exit status, 1 if there was one.
/// Errors: FileNotFound; NotSupported where xcrun is asked for and not there.
Result<int> air_validate(const AirValidateOptions& options);

}  // namespace cupola::tool
