#include "base/settings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/format.h"
#include "base/log.h"

namespace cupola {
namespace {

constexpr std::array<std::string_view, 4> kOn = {"1", "on", "true", "yes"}, kOff = {"0", "off", "false", "no"};

// Each stores what the text says and returns null, or leaves the value alone and returns what would be right.
const char* read_into(std::string& value, std::string_view text) {
  value = text;
  return nullptr;
}

const char* read_into(std::optional<std::string>& value, std::string_view text) {
  value = text;
  return nullptr;
}

const char* read_into(int64_t& value, std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return "a number, 0 or above";
  value = number;
  return nullptr;
}

const char* read_into(bool& value, std::string_view text) {
  const bool on = std::ranges::find(kOn, text) != kOn.end();
  if (!on && std::ranges::find(kOff, text) == kOff.end()) return "one of 1, on, true, yes, 0, off, false, no";
  value = on;
  return nullptr;
}

/// Whether the variable says something.
template <typename Value>
bool is_set(const Value&, const char* text) {
  return text && *text;
}
bool is_set(const std::optional<std::string>&, const char* text) {
  return text;
}

/// The settings and what was wrong with them.
struct Reading {
  std::vector<std::string> problems;
  Settings settings = read_settings(problems);
  std::atomic<bool> reported{false};
};

}  // namespace

Settings read_settings(std::vector<std::string>& problems) {
  Settings result;
#define CUPOLA_SETTING(name, variable, type, fallback, doc)                \
  if (const char* text = std::getenv(variable); is_set(result.name, text)) \
    if (const char* right = read_into(result.name, text))                  \
      problems.push_back(formatted("{} is '{}', which is ignored: it must be {}", variable, text, right));
#include "base/settings.def"
#undef CUPOLA_SETTING
  return result;
}

const Settings& settings() {
  // Leaked on purpose: unload calls arrive after static destructors.
  static auto* const reading = new Reading;
  // Written past log::enabled(), which may be what is asking here for its own setting.
  if (!reading->problems.empty() && reading->settings.log != "none" && !reading->reported.exchange(true))
    for (const std::string& problem : reading->problems) log::write(log::Topic::Error, problem);
  return reading->settings;
}

}  // namespace cupola
