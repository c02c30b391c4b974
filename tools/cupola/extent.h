#pragma once

#include <string>

#include "base/kernel_info.h"
#include "base/result.h"

namespace cupola::tool {

/// Of a grid or a block, as options have it: "x", "x,y" or "x,y,z". Error: InvalidValue, which names the option.
Result<Dim3> parse_extent(const std::string& option, const std::string& text);

/// The same of a block that a launch may have: 1 to 1024 threads, of them at most 64 in z.
Result<Dim3> parse_block(const std::string& option, const std::string& text);

}  // namespace cupola::tool
