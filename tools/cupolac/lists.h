#pragma once

#include <algorithm>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

namespace cupola::cupolac {

template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

/// The values of a list option: "a,b\,c" is a and "b,c". Empty values are left out.
std::vector<std::string> split_list(std::string_view text);

/// The options in a value of -Xcompiler and its like: split at commas and blanks that no quote or backslash protects,
/// which are then taken away, as the shell that nvcc runs does.
std::vector<std::string> split_forwarded(std::string_view text);

/// The words of an options file: split at white space outside quotes; '#' begins a comment.
std::vector<std::string> split_words(std::string_view text);

/// How a shell must be given the word: in quotes where needed.
std::string shell_word(std::string_view word);

}  // namespace cupola::cupolac
