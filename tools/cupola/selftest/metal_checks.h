#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "cupola/selftest/report.h"
#include "image/compile_request.h"

namespace cupola::tool::selftest {

/// By the device's name: the double that Cupola's tests build.
bool is_software_metal(const std::string& device);

/// What Metal says to the container of compiled kernels, and what Cupola's own checks find in it.
void check_container(Report& report, std::span<const std::byte> container, const std::filesystem::path& root);

/// What Xcode's compiler says to it, and to the same kernels as source. Not run without Xcode.
void check_with_xcode(Report& report, const std::string& container, const std::vector<image::CodeUnit>& code,
                      const std::filesystem::path& root);

}  // namespace cupola::tool::selftest
