#pragma once

#include <cstdint>
#include <string_view>

namespace cupola::image {

/// The symbols of library_calls.def; an import names its function by the place here.
inline constexpr std::string_view kLibraryCalls[] = {
#define CUPOLA_LIBRARY_CALL(symbol) #symbol,
#include "image/library_calls.def"
#undef CUPOLA_LIBRARY_CALL
};

/// Rows of library_calls.def.
uint32_t library_call_count();

/// The symbol of a row; `function` is below library_call_count().
const char* library_call_name(uint32_t function);

/// The function's address in this process; null when this platform's C library does not have it.
const void* library_call_address(uint32_t function);

}  // namespace cupola::image
