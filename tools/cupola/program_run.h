#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cupolac/installation.h"

namespace cupola::tool {

/// Becomes the program, with Cupola's libraries first among the loader's and Python's, and as the CUDA toolkit. Only
/// comes back with an error: NotSupported with the reason in one line, or FileNotFound.
Error run_program(const std::vector<std::string>& command, const std::filesystem::path& libraries);

/// A word for the child's environment: `first` before what the variable holds.
std::string with_first(const std::string& first, const char* rest);

}  // namespace cupola::tool
