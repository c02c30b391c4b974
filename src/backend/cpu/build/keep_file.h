#pragma once

#include <string>
#include <string_view>

namespace cupola::cpu::build {

/// Writes an intermediate file that CUPOLA_KEEP asks for. What cannot be written fails no compilation: the first such
/// file of the process is an error in the log. Any thread.
void keep_file(const std::string& path, std::string_view text);

}  // namespace cupola::cpu::build
