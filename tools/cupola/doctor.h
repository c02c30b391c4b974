#pragma once

#include <filesystem>

namespace cupola::tool {

/// Checks the installation, one line a check: "ok" or "problem" with what to do. Returns 1 when there was a problem.
int doctor(const std::filesystem::path& root);

}  // namespace cupola::tool
