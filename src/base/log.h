#pragma once

#include <string_view>

#include "base/format.h"

namespace cupola::log {

/// What a line is about. CUPOLA_LOG holds a comma-separated list of these names, or "all"; errors are always printed
/// once per distinct line unless CUPOLA_LOG is "none".
enum class Topic { Error, Api, Compile, Launch, Memory, Cache };

/// True when lines of this topic are wanted. Cheap; any thread.
bool enabled(Topic topic);

/// Writes "cupola: topic: text" and a newline to standard error in one write. Any thread.
void write(Topic topic, std::string_view text);

/// The same of a format and what it is of. Never throws: a line that there is no memory for is lost.
void write_formatted(Topic topic, fmt::string_view text, fmt::format_args arguments) noexcept;

template <typename... Args>
void line(Topic topic, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(topic)) [[unlikely]]
    write_formatted(topic, text, fmt::make_format_args(args...));
}

}  // namespace cupola::log
