#pragma once

#include <filesystem>

namespace cupola::tool {

/// Prints versions, folders, devices with their attributes, and settings. Returns the exit status.
int info(const std::filesystem::path& root);

}  // namespace cupola::tool
