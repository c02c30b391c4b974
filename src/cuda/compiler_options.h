#pragma once

#include <algorithm>
#include <span>
#include <string_view>

#include "base/result.h"

// The options of the compiler libraries, as tables: libnvvm and libnvJitLink.

namespace cupola {

/// One option, "-name" or "-name=value".
struct CompilerOption {
  std::string_view name;
  std::string_view values;  ///< those allowed, separated by '|'; "" takes none, "*" any, "?" any or none
};

/// An option's word in its parts.
struct OptionWord {
  std::string_view name, value;
  bool has_value = false;
};

inline OptionWord split_option(std::string_view word) {
  word.remove_prefix(word.starts_with("--") ? 2 : word.starts_with("-") ? 1 : 0);
  const size_t equals = word.find('=');
  if (equals == word.npos) return {word, {}, false};
  return {word.substr(0, equals), word.substr(equals + 1), true};
}

inline bool is_among(std::string_view value, std::string_view values) {
  while (true) {
    const size_t bar = values.find('|');
    if (value == values.substr(0, bar)) return true;
    if (bar == values.npos) return false;
    values.remove_prefix(bar + 1);
  }
}

/// The row of the option. Error: InvalidValue for an option that is not in the table, or a value it does not take.
inline Result<const CompilerOption*> find_option(std::span<const CompilerOption> table, std::string_view word) {
  const OptionWord parts = split_option(word);
  const auto row = std::ranges::find(table, parts.name, &CompilerOption::name);
  if (row == table.end() || !word.starts_with('-')) return fail(ErrorCode::InvalidValue, "'{}' is no option", word);
  const bool fits =
      row->values == "?" ||
      (parts.has_value ? row->values == "*" || (!row->values.empty() && is_among(parts.value, row->values))
                       : row->values.empty());
  if (fits) return &*row;
  if (row->values.empty()) return fail(ErrorCode::InvalidValue, "'{}': -{} takes no value", word, parts.name);
  return fail(ErrorCode::InvalidValue, "'{}': -{} takes a value, one of {}", word, parts.name, row->values);
}

}  // namespace cupola
