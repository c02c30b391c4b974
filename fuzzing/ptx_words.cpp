#include "ptx_words.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/syntax/isa.h"

namespace {

using namespace cupola;

constexpr std::string_view kTableWords[] = {
#define PTX_TYPE(name, text, bits, kind) text,
#include "ptx/syntax/types.def"
#undef PTX_TYPE
#define PTX_MODIFIER(name, text) text,
#include "ptx/syntax/modifiers.def"
#undef PTX_MODIFIER
#define PTX_SPACE(name, text) text,
#include "ptx/syntax/spaces.def"
#undef PTX_SPACE
#define PTX_SPECIAL(name, text, type, components, intrinsic) text,
#include "ptx/syntax/special_registers.def"
#undef PTX_SPECIAL
    "0",
    "1",
    "-1",
    "31",
    "64",
    "0x80000000",
    "0xffffffffffffffff",
    "0f7f800001",
    "0d3ff0000000000000",
    "1.5",
    "_",
    "extern",
    "visible",
    "weak",
    "common",
    "func",
    "entry",
    "noreturn",
    "align",
    "ptr",
    "v2",
    "v4",
    "v8",
    "b0",
    "h1",
    "x",
    "w",
    "@",
    "!",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    "|",
    "+",
    "-",
    ";",
    ".",
};

bool in_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$';
}

/// Letters and digits, or one other character.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (in_word(text[i]))
      while (end < text.size() && in_word(text[end])) ++end;
    if (!std::isspace(static_cast<unsigned char>(text[i]))) words.push_back(text.substr(i, end - i));
    i = end;
  }
  return words;
}

class Change {
 public:
  Change(std::string_view text, unsigned seed) : text_(text), random_(seed) {}

  std::string run() {
    switch (below(4)) {
      case 0:
        return with_line();
      case 1:
        return with_row();
      default:
        return with_word();
    }
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }

  std::string replaced(std::string_view old, std::string_view by) const {
    const size_t at = old.empty() ? text_.size() : static_cast<size_t>(old.data() - text_.data());
    return std::string(text_.substr(0, at)) + std::string(by) + std::string(text_.substr(at + old.size()));
  }

  /// A word becomes another, goes, or gets one more behind it.
  std::string with_word() {
    const auto words = words_of(text_);
    if (words.empty()) return std::string(text_);
    const std::string_view old = words[below(words.size())];
    const std::string_view other = below(3) ? words[below(words.size())] : kTableWords[below(std::size(kTableWords))];
    if (below(8) == 0) return replaced(old, "");
    if (below(4) == 0) return replaced(old, std::string(old) + (in_word(other[0]) ? "." : "") + std::string(other));
    return replaced(old, other);
  }

  std::vector<std::string_view> lines() const {
    std::vector<std::string_view> result;
    for (size_t i = 0; i < text_.size();) {
      const size_t end = std::min(text_.find('\n', i), text_.size() - 1) + 1;
      result.push_back(text_.substr(i, end - i));
      i = end;
    }
    return result;
  }

  std::string with_line() {
    const auto all = lines();
    if (all.empty()) return std::string(text_);
    const std::string_view one = all[below(all.size())], other = all[below(all.size())];
    if (below(3) == 0) return replaced(one, "");
    return replaced(one, std::string(one) + std::string(other));
  }

  /// Another instruction of the table in an instruction's place, with its operands.
  std::string with_row() {
    const auto words = words_of(text_);
    std::vector<std::string_view> opcodes;
    for (const std::string_view word : words)
      if (std::ranges::any_of(ptx::rows(), [&](const ptx::Row& row) { return row.opcode == word; }))
        opcodes.push_back(word);
    if (opcodes.empty()) return with_word();
    return replaced(opcodes[below(opcodes.size())], ptx::rows()[below(ptx::rows().size())].opcode);
  }

  std::string_view text_;
  std::minstd_rand random_;
};

}  // namespace

size_t change_words(uint8_t* data, size_t size, size_t most, unsigned seed) {
  std::string text(reinterpret_cast<const char*>(data), size);
  std::minstd_rand random(seed);
  for (unsigned i = 0, times = 1 + random() % 4; i < times; ++i) text = Change(text, random()).run();
  text.resize(std::min(text.size(), most));
  if (!text.empty()) std::memcpy(data, text.data(), text.size());
  return text.size();
}
