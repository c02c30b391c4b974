#include "base/log.h"

#include <unistd.h>

#include <array>
#include <string>
#include <unordered_set>

#include "base/mutex.h"
#include "base/settings.h"

namespace cupola::log {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"error", "api", "compile", "launch", "memory", "cache"};

unsigned read_mask() {
  const std::string& wanted = settings().log;
  if (wanted == "none") return 0;
  unsigned mask = 1u << static_cast<unsigned>(Topic::Error);
  for (size_t begin = 0; begin <= wanted.size();) {
    size_t end = wanted.find(',', begin);
    if (end == std::string::npos) end = wanted.size();
    std::string_view word(wanted.data() + begin, end - begin);
    for (size_t i = 0; i < kNames.size(); ++i)
      if (word == kNames[i] || word == "all") mask |= 1u << i;
    begin = end + 1;
  }
  return mask;
}

/// True the first time this error line is seen. Forgets nothing, and stops remembering at a bound.
bool is_new_error(std::string_view text) {
  constexpr size_t kMostRemembered = 1000;
  static Mutex* const mutex = new Mutex;  // leaked, as the set: errors are written after static destructors too
  static auto* const seen = new std::unordered_set<std::string>;
  Lock lock(*mutex);
  return seen->size() >= kMostRemembered ? !seen->contains(std::string(text)) : seen->emplace(text).second;
}

}  // namespace

bool enabled(Topic topic) {
  static const unsigned mask = read_mask();
  return mask & (1u << static_cast<unsigned>(topic));
}

void write(Topic topic, std::string_view text) {
  if (topic == Topic::Error && !is_new_error(text)) return;
  std::string whole = formatted("cupola: {}: {}\n", kNames[static_cast<size_t>(topic)], text);
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

void write_formatted(Topic topic, fmt::string_view text, fmt::format_args arguments) noexcept {
  try {
    write(topic, format_arguments(text, arguments));
  } catch (...) {  // what the line is about goes on
  }
}

}  // namespace cupola::log
