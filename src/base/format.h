#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

// fmt's formatting, with its code in one place: <fmt/format.h> costs four seconds a source file, <fmt/core.h> a tenth
// of one.

namespace cupola {

std::string format_arguments(fmt::string_view format, fmt::format_args arguments);

/// `formatted("{} of {}", done, all)`; the format is checked at compile time. See https://fmt.dev for its language.
template <typename... Args>
std::string formatted(fmt::format_string<Args...> text, Args&&... args) {
  return format_arguments(text, fmt::make_format_args(args...));
}

}  // namespace cupola
