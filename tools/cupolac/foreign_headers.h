#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

// A CUDA toolkit in the folders that every compiler searches (/usr/include of Debian's packages, /usr/local/include)
// cannot be left out as one named by -I is. Where it has a header that Cupola lacks, such as cublas_v2.h, a program
// would get that one, and errors that say nothing. A header of the same name is put before it, which says what is
// wrong.

namespace cupola::cupolac {

/// The folders that clang searches unasked and that other packages than compilers fill.
std::vector<std::filesystem::path> system_include_folders();

/// Names of a toolkit's headers in the folders that are not in `own_headers`, each with the path of the first. Empty on
/// a machine without a toolkit there.
std::map<std::string, std::filesystem::path> find_foreign_headers(const std::vector<std::filesystem::path>& folders,
                                                                  const std::filesystem::path& own_headers);

/// Makes the folder with a header for each that is an error and names the other. Error: OperatingSystem.
Result<> write_refusals(const std::map<std::string, std::filesystem::path>& headers,
                        const std::filesystem::path& folder);

}  // namespace cupola::cupolac
