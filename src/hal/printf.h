#pragma once

#include <string>

namespace cupola::hal {

/// Appends what CUDA's device printf prints for `format` (CUDA C++ Programming Guide, "Formatted Output"). Arguments
/// lie in `arguments` one after the other, promoted as for a C variadic call, each at its natural alignment: 4 bytes
/// for int, 8 for long, double and pointers. A specifier that is not known is printed as it stands and takes no
/// argument. Returns the number of arguments that were taken. Touches the pointers before anything it owns depends on
/// them: a fault in here loses nothing.
int format_print(std::string& text, const char* format, const void* arguments);

}  // namespace cupola::hal
