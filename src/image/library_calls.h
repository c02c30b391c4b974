#pragma once

#include <cstdint>

namespace cupola::image {

/// Rows of library_calls.def.
uint32_t library_call_count();

/// The symbol of a row; `function` is below library_call_count().
const char* library_call_name(uint32_t function);

/// The function's address in this process; null when this platform's C library does not have it.
const void* library_call_address(uint32_t function);

}  // namespace cupola::image
