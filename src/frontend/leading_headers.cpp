#include "frontend/leading_headers.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace cupola::frontend {
namespace {

constexpr size_t kMostHeaders = 8;

std::string_view without_blanks(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  return begin == text.npos ? std::string_view() : text.substr(begin);
}

/// Takes a line off the text, without its end.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return without_blanks(line);
}

/// X of `#include <X>` and `#include "X"` with nothing but blanks behind it; empty for other lines.
std::string_view included(std::string_view line) {
  if (!line.starts_with('#')) return {};
  line = without_blanks(line.substr(1));
  if (!line.starts_with("include")) return {};
  line = without_blanks(line.substr(7));
  if (line.empty() || (line[0] != '<' && line[0] != '"')) return {};
  const size_t end = line.find(line[0] == '<' ? '>' : '"', 1);
  if (end == line.npos || !without_blanks(line.substr(end + 1)).empty()) return {};
  return line.substr(1, end - 1);
}

bool is_ours(std::string_view name, const Places& places) {
  std::error_code error;
  const bool plain = !name.empty() && !name.starts_with('/') && !name.contains("..") && !name.contains('\\');
  return plain && std::filesystem::is_regular_file(places.headers + "/" + std::string(name), error);
}

}  // namespace

std::vector<std::string> leading_headers(const image::SourceRequest& request, const Places& places) {
  if (!request.prologue.empty()) return {};
  if (std::ranges::any_of(request.headers, [&](const auto& header) { return is_ours(header.name, places); })) return {};
  std::vector<std::string> names;
  for (std::string_view text = request.source; !text.empty() && names.size() < kMostHeaders;) {
    const std::string_view line = take_line(text);
    if (line.empty() || (line.starts_with("//") && !line.ends_with('\\'))) continue;
    const std::string_view name = included(line);
    if (!is_ours(name, places)) break;
    names.emplace_back(name);
  }
  return names;
}

}  // namespace cupola::frontend
