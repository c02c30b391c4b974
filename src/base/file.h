#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace cupola {

/// All that the file holds. Error: FileNotFound for what cannot be read, a folder too.
Result<std::string> read_file(const std::string& path);

/// Makes the file, or replaces what it holds. Error: OperatingSystem.
Result<> write_file(const std::string& path, std::span<const std::byte> bytes);

}  // namespace cupola
