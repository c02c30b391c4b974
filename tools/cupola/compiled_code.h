#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "cupola/code_file.h"

namespace cupola::tool {

/// The kernel code that a file holds; of a .cu file what cupolac makes of it with `flags`, with its source lines.
/// `root`: the installation. Errors: those of reading the file; InvalidSource for what cupolac does not compile;
/// InvalidValue for flags of another file.
Result<CodeFile> compiled_code(const std::string& file, const std::vector<std::string>& flags,
                               const std::filesystem::path& root);

}  // namespace cupola::tool
