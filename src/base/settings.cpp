#include "base/settings.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <concepts>
#include <cstdlib>
#include <limits>
#include <optional>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/format.h"
#include "base/log.h"

namespace cupola {
namespace {

constexpr std::array<std::string_view, 4> kOn = {"1", "on", "true", "yes"}, kOff = {"0", "off", "false", "no"};

/// The words that a text may be, or that it may be a list of; any text if there are none. What a number may be.
struct Words {
  std::vector<std::string_view> allowed;
  bool is_list = false;
  int64_t least = 0, most = std::numeric_limits<int64_t>::max();
  std::string_view alone = {};  ///< what may be there instead of a list; empty where nothing may

  Words or_alone(std::string_view word) && {
    alone = word;
    return std::move(*this);
  }
};

// The words of the table's rows.
Words any() {
  return {};
}
Words between(int64_t least, int64_t most) {
  return {{}, false, least, most};
}
template <typename... Texts>
Words one_of(Texts... allowed) {
  return {{allowed...}, false};
}
template <typename... Texts>
Words list_of(Texts... allowed) {
  return {{allowed...}, true};
}

bool is_among(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_allowed(std::string_view text, const Words& words) {
  if (words.allowed.empty()) return true;
  if (!words.is_list) return is_among(text, words.allowed);
  if (text == words.alone) return true;
  return std::ranges::all_of(std::views::split(text, ','), [&](auto part) {
    const std::string_view word(part);
    return word.empty() || is_among(word, words.allowed);
  });
}

std::string description(const Words& words) {
  std::string names;
  for (const std::string_view word : words.allowed) names += formatted("{}{}", names.empty() ? "" : ", ", word);
  const std::string alone = words.alone.empty() ? "" : formatted("{}, or ", words.alone);
  if (words.is_list) return formatted("{}some of {}, separated by commas", alone, names);
  return words.allowed.size() == 1 ? names : "one of " + names;
}

// Each stores what the text says and returns nothing, or leaves the value alone and returns what would be right.
using Wanted = std::optional<std::string>;

template <typename Text>
  requires std::same_as<Text, std::string> || std::same_as<Text, std::optional<std::string>>
Wanted read_into(Text& value, std::string_view text, const Words& words) {
  if (!is_allowed(text, words)) return description(words);
  value = text;
  return {};
}

Wanted read_into(int64_t& value, std::string_view text, const Words& words) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < words.least || number > words.most)
    return words.most == Words().most ? formatted("a number, {} or above", words.least)
                                      : formatted("a number from {} to {}", words.least, words.most);
  value = number;
  return {};
}

Wanted read_into(bool& value, std::string_view text, const Words&) {
  const bool on = is_among(text, kOn);
  if (!on && !is_among(text, kOff)) return "one of 1, on, true, yes, 0, off, false, no";
  value = on;
  return {};
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
#define CUPOLA_SETTING(name, variable, type, fallback, words, doc)         \
  if (const char* text = std::getenv(variable); is_set(result.name, text)) \
    if (const Wanted right = read_into(result.name, text, words))          \
      problems.push_back(formatted("{} is '{}', which is ignored: it must be {}", variable, text, *right));
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
