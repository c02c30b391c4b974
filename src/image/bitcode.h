#pragma once

#include <cstddef>

#include "base/result.h"

namespace cupola::image {

/// How long the LLVM bitcode file at `bytes` is, found by walking its top-level blocks ("LLVM Bitcode File Format,
/// Blocks") up to the string table, which is the last. Needed where an API gives a pointer without a length. Error:
/// InvalidImage.
Result<size_t> bitcode_size(const std::byte* bytes);

}  // namespace cupola::image
