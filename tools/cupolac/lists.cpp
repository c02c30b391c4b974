#include "cupolac/lists.h"

#include <cctype>

namespace cupola::cupolac {
namespace {

/// Splits at characters for which `separates` holds outside quotes and not behind a backslash.
template <typename Separates>
std::vector<std::string> split(std::string_view text, bool quotes, Separates separates) {
  std::vector<std::string> words;
  std::string word;
  bool any = false;
  char open = 0;
  auto end_word = [&] {
    if (any) words.push_back(word);
    word.clear();
    any = false;
  };
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && open != '\'' && i + 1 < text.size() && (quotes || separates(text[i + 1]))) {
      word += text[++i];
      any = true;
    } else if (open) {
      if (c == open)
        open = 0;
      else
        word += c;
    } else if (quotes && (c == '"' || c == '\'')) {
      open = c;
      any = true;
    } else if (separates(c)) {
      end_word();
    } else {
      word += c;
      any = true;
    }
  }
  end_word();
  return words;
}

bool blank(char c) {
  return std::isspace(static_cast<unsigned char>(c));
}

}  // namespace

std::vector<std::string> split_list(std::string_view text) {
  return split(text, false, [](char c) { return c == ','; });
}

std::vector<std::string> split_forwarded(std::string_view text) {
  return split(text, true, [](char c) { return c == ',' || blank(c); });
}

std::vector<std::string> split_words(std::string_view text) {
  std::string kept;
  bool comment = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#' && (i == 0 || blank(text[i - 1]))) comment = true;
    if (c == '\n') comment = false;
    if (!comment) kept += c;
  }
  return split(kept, true, blank);
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view kPlain = "_-+=./:,@%^";
  bool plain = !word.empty();
  for (char c : word) plain &= std::isalnum(static_cast<unsigned char>(c)) || kPlain.contains(c);
  if (plain) return std::string(word);
  std::string text = "'";
  for (char c : word) {
    if (c == '\'')
      text += "'\\''";
    else
      text += c;
  }
  return text + "'";
}

}  // namespace cupola::cupolac
