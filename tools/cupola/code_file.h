#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "image/compile_request.h"

namespace cupola::tool {

/// A file's bytes; "-" is standard input. Error: FileNotFound.
Result<std::string> read_all(const std::string& path);

/// Kernel code of a file, one unit for each fat binary in it.
struct CodeFile {
  std::vector<image::CodeUnit> units;  ///< at least one
};

/// Takes PTX text, kir (bitcode or text), a fat binary, or a program file with fat binaries. Of a fat binary's entries
/// the first of kind `preferred` is taken, else the first kir or PTX. Errors: InvalidImage, for other contents.
Result<CodeFile> read_code_file(const std::string& path, image::CodeKind preferred);

}  // namespace cupola::tool
