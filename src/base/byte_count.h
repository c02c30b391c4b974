#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"

namespace cupola {

/// "8GiB", "512MiB", "64KiB", "1000" (bytes). Error: InvalidValue.
Result<uint64_t> parse_bytes(const std::string& text);

}  // namespace cupola
