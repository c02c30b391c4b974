#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

struct TraceOptions {
  std::filesystem::path output = "trace.json";
  std::filesystem::path read;  ///< a file that CUPOLA_TRACE made, in place of a program to run
  bool nested = false;         ///< show the driver's calls within the runtime's
};

/// `cupola trace PROGRAM...`: runs it with Cupola's libraries, writes the trace as JSON, and prints a summary to
/// standard error. The program may end in any way. Returns its exit status, as a shell gives it. Errors: as
/// run_program, and OperatingSystem when the trace cannot be written.
Result<int> trace_command(const TraceOptions& options, const std::vector<std::string>& command,
                          const std::filesystem::path& libraries);

}  // namespace cupola::tool
