#pragma once

#include <string>

#include "base/result.h"

namespace cupola::cupolac {

enum class FileKind { Cuda, Cxx, C, Assembly, Bitcode, Object, Library, DeviceCode, Metal };

/// What a file is by its name, or by the value of -x (empty: not given). Error: InvalidValue, with what
/// -x may be.
Result<FileKind> kind_of_file(const std::string& path, const std::string& language);

}  // namespace cupola::cupolac
