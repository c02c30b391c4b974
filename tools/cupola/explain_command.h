#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

/// Prints how the cpu device runs each kernel of a file, for each kind of blocks, and why: CUDA C++ (`.cu`, which
/// cupolac compiles with `flags`), or what read_code_file takes. Source lines are known where the code carries them.
Result<> explain_command(const std::string& file, const std::vector<std::string>& flags,
                         const std::filesystem::path& root);

}  // namespace cupola::tool
