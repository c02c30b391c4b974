#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"

namespace cupola::tool::selftest {

/// libnvvm opens and compiles a function to PTX. `libraries`: its folder.
Result<std::string> check_nvvm(const std::filesystem::path& libraries);

}  // namespace cupola::tool::selftest
