#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "image/compile_request.h"

namespace cupola::cupolac {

/// Asks lib/libcupola-compiler.so, through its C entry (src/compile/compile.h). Errors: the compiler's line; the
/// loader's words when the library does not open.
Result<std::string> compile(const std::filesystem::path& libraries, const image::CompileRequest& request);

}  // namespace cupola::cupolac
