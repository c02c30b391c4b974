#include "base/log.h"

#include <unistd.h>

#include <array>
#include <string>

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

}  // namespace

bool enabled(Topic topic) {
  static const unsigned mask = read_mask();
  return mask & (1u << static_cast<unsigned>(topic));
}

void write(Topic topic, std::string_view text) {
  std::string whole = fmt::format("cupola: {}: {}\n", kNames[static_cast<size_t>(topic)], text);
  [[maybe_unused]] ssize_t written = ::write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace cupola::log
