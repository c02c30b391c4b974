#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

struct ExplainOptions {
  std::string file;                  ///< CUDA C++ (`.cu`), or what read_code_file takes
  std::optional<std::string> block;  ///< threads of a block, as parse_block takes it; nothing: none in particular
  std::vector<std::string> flags;    ///< of a `.cu` file, for cupolac
};

/// Prints how the cpu device runs each kernel of a file, and why: its first code, for each kind of blocks; or its hot
/// code for blocks of one shape. Source lines are known where the code carries them.
Result<> explain_command(const ExplainOptions& options, const std::filesystem::path& root);

}  // namespace cupola::tool
