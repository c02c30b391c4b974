#pragma once

#include <string_view>
#include <utility>

#include "base/format.h"

namespace cupola::log {

/// What a line is about. CUPOLA_LOG holds a comma-separated list of these names, or "all"; errors are always printed
/// once per distinct line unless CUPOLA_LOG is "none".
enum class Topic { Error, Api, Compile, Launch, Memory, Cache };

/// True when lines of this topic are wanted. Cheap; any thread.
bool enabled(Topic topic);

/// Writes "cupola: topic: text" and a newline to standard error in one write. Any thread.
void write(Topic topic, std::string_view text);

template <typename... Args>
void line(Topic topic, fmt::format_string<Args...> text, Args&&... args) {
  if (enabled(topic)) [[unlikely]]
    write(topic, formatted(text, std::forward<Args>(args)...));
}

}  // namespace cupola::log
