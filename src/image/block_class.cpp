#include "image/block_class.h"

#include <algorithm>
#include <charconv>

#include "base/format.h"

namespace cupola::image {
namespace {

/// Takes a number off the front, and `end` behind it if that is not 0; nothing where none stands there.
std::optional<uint32_t> take_number(std::string_view& text, char end) {
  uint32_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number == 0 || number > kMostThreads) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(rest - text.data()));
  if (end == 0) return number;
  if (!text.starts_with(end)) return std::nullopt;
  text.remove_prefix(1);
  return number;
}

constexpr std::string_view kHot = "-hot";

std::optional<Dim3> shape_named(std::string_view text) {
  const auto x = take_number(text, 'x'), y = x ? take_number(text, 'x') : x, z = y ? take_number(text, 0) : y;
  if (!z || !text.empty()) return std::nullopt;
  const Dim3 shape{*x, *y, *z};
  return shape.count() <= kMostThreads ? std::optional(shape) : std::nullopt;
}

}  // namespace

std::string request_name(const BlocksOfCode& code) {
  const std::string name(name_of(code.blocks).name);
  if (!code.shape) return name;
  return formatted("{}-{}x{}x{}{}", name, code.shape->x, code.shape->y, code.shape->z, code.hot ? kHot : "");
}

std::optional<BlocksOfCode> blocks_requested(std::string_view name) {
  const bool hot = name.ends_with(kHot);
  if (hot) name.remove_suffix(kHot.size());
  const size_t dash = name.find('-');
  const auto named = std::ranges::find(kBlockClassNames, name.substr(0, dash), &BlockClassName::name);
  if (named == kBlockClassNames.end()) return std::nullopt;
  const auto blocks = static_cast<BlockClass>(named - kBlockClassNames.begin());
  if (dash == std::string_view::npos) return hot ? std::nullopt : std::optional(BlocksOfCode{blocks});
  const std::optional<Dim3> shape = shape_named(name.substr(dash + 1));
  return shape && class_of(*shape) == blocks ? std::optional(BlocksOfCode{blocks, shape, hot}) : std::nullopt;
}

std::string words_of(const BlocksOfCode& code) {
  if (!code.shape) return std::string(name_of(code.blocks).words);
  return formatted("of {} x {} x {} threads{}", code.shape->x, code.shape->y, code.shape->z, code.hot ? ", hot" : "");
}

}  // namespace cupola::image
