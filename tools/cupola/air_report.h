#pragma once

#include <string>

#include "backend/metal/metallib/container.h"

namespace cupola::tool {

/// What a container holds, for people. `file_bytes` is its size.
std::string air_text(const metallib::Library& library, uint64_t file_bytes);

/// The same as one JSON object. Bytes of names that are not printable ASCII stand as \xHH.
std::string air_json(const metallib::Library& library, uint64_t file_bytes);

}  // namespace cupola::tool
