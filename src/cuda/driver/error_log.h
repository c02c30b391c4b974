#pragma once

#include <string_view>

namespace cupola::driver {

/// Keeps the line that a call failed with, for cuLogsDumpToMemory and relatives, and gives it to callbacks. Any thread.
void keep_error(const char* call, std::string_view message);

}  // namespace cupola::driver
