#pragma once

#include <string>

#include "base/result.h"

namespace cupola::tool {

/// Lists the entries of the fat binaries in a file ("-": standard input); with a folder, also writes each entry there,
/// unpacked. Prints to standard output.
Result<> fatbin_command(const std::string& path, const std::string& extract_to);

}  // namespace cupola::tool
