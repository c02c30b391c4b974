#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupola::tool {

struct SelftestOptions {
  std::string device;     ///< for CUPOLA_DEVICE; empty: as it is set
  std::string json;       ///< a file for the report as JSON, "-" for standard output in place of the text; empty: none
  bool watchdog = false;  ///< also launch what the system must end
};

/// Runs every check on the device, and prints the report. On the metal device everything runs twice, as MSL and as
/// compiled kernels. Returns the exit status: 1 where a check failed. Error: FileNotFound, and where nothing can run
/// the reason.
Result<int> selftest_command(const SelftestOptions& options, const std::filesystem::path& root);

}  // namespace cupola::tool
