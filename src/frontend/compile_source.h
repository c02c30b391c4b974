#pragma once

#include "image/source_request.h"

namespace cupola::frontend {

/// A CUDA C++ source as kir. Uses more stack than threads usually have. Error: what is wrong with the request or the
/// installation; what is wrong with the source is in the answer's log.
Result<image::SourceAnswer> compile_source(const image::SourceRequest& request);

}  // namespace cupola::frontend
