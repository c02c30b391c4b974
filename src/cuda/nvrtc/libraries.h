#pragma once

#include "image/compiler_library.h"
#include "image/source_request.h"

namespace cupola::nvrtc {

/// Source to kir, by libcupola-frontend beside this library, which is opened at the first call. Any thread. Errors:
/// JitCompilerNotFound; what the front end says of a request it cannot serve.
Result<image::SourceAnswer> compile_source(const image::SourceRequest& request);

/// Kir to what a target names, by libcupola-compiler. Any thread.
Result<std::vector<std::byte>> compile_code(const image::CompileRequest& request);

}  // namespace cupola::nvrtc
