#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

/// Writes a file's kernels as source in Metal's shading language to `output`, or to standard output. The file as
/// compiled_code has it. Errors: its; those of the compiler, which say what has no form on Metal.
Result<> msl_command(const std::string& file, const std::string& output, const std::vector<std::string>& flags,
                     const std::filesystem::path& root);

}  // namespace cupola::tool
