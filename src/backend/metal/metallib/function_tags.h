#pragma once

#include <span>

#include "backend/metal/metallib/container.h"

// The tags of the function list that have a meaning: one table for reading and writing.

namespace cupola::metallib {

/// Where a function's parts are: OFFT, from the start of each part of the file, and MDSZ.
struct FunctionPlace {
  uint64_t public_metadata = 0, private_metadata = 0, module = 0, module_bytes = 0;
};

struct FunctionTag {
  TagName name;
  bool required;
  size_t bytes;  ///< 0: any number
  Result<> (*read)(ByteReader& value, Function& function, FunctionPlace& place);
  void (*write)(ByteWriter& value, const Function& function, const FunctionPlace& place);
};

std::span<const FunctionTag> function_tags();

/// The row of a tag; null for one that is kept as bytes.
const FunctionTag* function_tag(TagName name);

}  // namespace cupola::metallib
