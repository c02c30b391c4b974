#pragma once

#include <filesystem>

namespace cupola::tool {

/// Where there is no Metal of the system's, the one that Cupola's tests build stands in for it, unless the settings
/// name another: it lies beside libcuda's own libraries, not beside this program. Call before settings are read.
void use_software_metal(const std::filesystem::path& root);

}  // namespace cupola::tool
