#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cupola::tool {

/// Why kernels cannot run on this system and processor, by the names that uname gives; none where they can.
std::optional<std::string> obstacle_to_kernels(std::string_view system, std::string_view processor);

/// Checks the installation, one line a check: "ok" or "problem" with what to do. Returns 1 when there was a problem.
int doctor(const std::filesystem::path& root);

}  // namespace cupola::tool
