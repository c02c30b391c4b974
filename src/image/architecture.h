#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "base/format.h"

namespace cupola::image {

/// Those of architectures.def, ascending.
inline constexpr int kArchitectures[] = {
#define ARCHITECTURE(number) number,
#include "image/architectures.def"
#undef ARCHITECTURE
};

/// The same for messages, each with a comma before it: ", 75, 80" and so on.
inline constexpr std::string_view kArchitectureList =
#define ARCHITECTURE(number) ", " #number
#include "image/architectures.def"
#undef ARCHITECTURE
    ;

constexpr bool is_known_architecture(int number) {
  return std::ranges::find(kArchitectures, number) != std::end(kArchitectures);
}

/// An architecture as compilers' options name it, in its parts: "compute_90a" is {"compute", 90, "a"}.
struct ArchitectureName {
  std::string_view kind;
  int number = 0;
  std::string_view suffix;  ///< "", a (specific to it) or f (its family)
};

/// Any kind, and two or three digits that do not begin with 0: callers say which kinds, numbers and suffixes they take.
/// Nothing for what has another form. The parts point into `name`.
constexpr std::optional<ArchitectureName> parse_architecture(std::string_view name) {
  const size_t underscore = name.find('_');
  if (underscore == name.npos) return std::nullopt;
  ArchitectureName found{.kind = name.substr(0, underscore)};
  const std::string_view rest = name.substr(underscore + 1);
  const size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
  found.suffix = rest.substr(digits);
  const bool is_suffix = found.suffix.empty() || found.suffix == "a" || found.suffix == "f";
  if (digits < 2 || digits > 3 || rest.front() == '0' || !is_suffix) return std::nullopt;
  for (const char digit : rest.substr(0, digits)) found.number = found.number * 10 + (digit - '0');
  return found;
}

/// "sm_90a" for "compute_90a" and for itself; empty for what is no architecture.
inline std::string real_architecture(std::string_view value) {
  const auto name = parse_architecture(value);
  if (!name || (name->kind != "compute" && name->kind != "sm")) return {};
  return formatted("sm_{}{}", name->number, name->suffix);
}

}  // namespace cupola::image
