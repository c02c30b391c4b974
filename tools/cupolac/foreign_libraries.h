#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "cupolac/options.h"

namespace cupola::cupolac {

/// Where linkers look for -lNAME behind all folders that they are given.
std::vector<std::filesystem::path> system_library_folders();

/// A library of another CUDA toolkit that lies in `folders` would be linked beside Cupola's runtime, and the program
/// would run NVIDIA's code on a driver that it does not know. Error: NotFound for a -lNAME that has a toolkit's name
/// and is found there alone: neither in `own`, Cupola's libraries, nor in a folder of -L or LIBRARY_PATH.
Result<> check_libraries(const Options& options, const std::filesystem::path& own,
                         const std::vector<std::filesystem::path>& folders);

}  // namespace cupola::cupolac
