#pragma once

#include <filesystem>
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
  bool load = false;   ///< have Metal load it, and make pipelines of its kernels
};

/// Prints each problem of a .metallib file as a line, then a count; returns the exit status, 1 if there was one.
/// `root`: where lib/cupola may have the software Metal. Errors: FileNotFound; NotSupported where xcrun is asked for
/// and not there, NoDevice where Metal is.
Result<int> air_validate(const AirValidateOptions& options, const std::filesystem::path& root);

}  // namespace cupola::tool
