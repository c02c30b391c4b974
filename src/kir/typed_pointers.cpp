// The text is a row of tokens; where a type may begin, the longest type is read from there. A type that ends in `*` is
// a pointer, and all of it gives way to `ptr`. What reads like a type and is none (the braces of a constant, the
// arguments of a call) is given up at its first token, and reading goes on behind that one: types within are found
// then. A star stands nowhere else in LLVM's text but in types, strings and comments.

#include "kir/typed_pointers.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace cupola::kir {
namespace {

enum class Kind : unsigned char { Space, Word, Global, Local, Metadata, Mark, Text };

struct Token {
  Kind kind;
  std::string_view text;
};

bool of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-' || c == '$';
}

size_t end_of_string(std::string_view text, size_t begin) {
  const size_t end = text.find('"', begin + 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

/// The end of a name behind its sigil: quoted or plain.
size_t end_of_name(std::string_view text, size_t begin) {
  if (begin < text.size() && text[begin] == '"') return end_of_string(text, begin);
  while (begin < text.size() && of_word(text[begin])) ++begin;
  return begin;
}

Token next_token(std::string_view text) {
  const char c = text.front();
  const auto token = [&](Kind kind, size_t size) { return Token{kind, text.substr(0, size)}; };
  if (c == ';') return token(Kind::Space, std::min(text.find('\n'), text.size()));
  if (std::isspace(static_cast<unsigned char>(c))) {
    size_t size = 1;
    while (size < text.size() && std::isspace(static_cast<unsigned char>(text[size]))) ++size;
    return token(Kind::Space, size);
  }
  if (c == '"') return token(Kind::Text, end_of_string(text, 0));
  if (c == '@') return token(Kind::Global, end_of_name(text, 1));
  if (c == '%') return token(Kind::Local, end_of_name(text, 1));
  if (c == '!') return token(Kind::Metadata, end_of_name(text, 1));
  if (text.starts_with("...")) return token(Kind::Mark, 3);
  if (of_word(c)) return token(Kind::Word, end_of_name(text, 0));
  return token(Kind::Mark, 1);
}

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  while (!text.empty()) {
    tokens.push_back(next_token(text));
    text.remove_prefix(tokens.back().text.size());
  }
  return tokens;
}

bool is_number(std::string_view word) {
  return !word.empty() && std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
}

/// A type of one word. `ptr` is one too: a text may hold both forms.
bool is_simple_type(std::string_view word) {
  constexpr std::array kNames{"void",     "half",      "bfloat", "float", "double",   "fp128",
                              "x86_fp80", "ppc_fp128", "label",  "token", "metadata", "ptr"};
  return std::ranges::find(kNames, word) != kNames.end() || (word.starts_with('i') && is_number(word.substr(1)));
}

/// Writes the tokens with opaque pointers.
class Rewriting {
 public:
  explicit Rewriting(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  std::string all() {
    while (at_ < tokens_.size()) {
      if (const std::optional<Type> type = read_type(at_, kMostNested)) {
        if (type->pointer) pointee_ = type->pointee;
        out_ += type->text;
        at_ = type->end;
      } else {
        write_one();
      }
    }
    return std::move(out_);
  }

 private:
  struct Type {
    std::string text;
    size_t end;  ///< the token behind it
    bool pointer = false;
    std::string pointee = {};  ///< of a typed pointer; empty for `ptr`
  };
  static constexpr int kMostNested = 64;

  void write_one() {
    const Token& token = tokens_[at_];
    out_ += token.text;
    const bool wants_type = token.kind == Kind::Word && (token.text == "byval" || token.text == "sret");
    if (wants_type && !pointee_.empty() && !is_mark(behind_space(at_ + 1), "(")) out_ += "(" + pointee_ + ")";
    if (token.kind == Kind::Mark && token.text == ",") pointee_.clear();
    ++at_;
  }

  size_t behind_space(size_t at) const {
    while (at < tokens_.size() && tokens_[at].kind == Kind::Space) ++at;
    return at;
  }
  bool is_mark(size_t at, std::string_view mark) const {
    return at < tokens_.size() && tokens_[at].kind == Kind::Mark && tokens_[at].text == mark;
  }
  bool is_word(size_t at, std::string_view word) const {
    return at < tokens_.size() && tokens_[at].kind == Kind::Word && tokens_[at].text == word;
  }
  bool is_number_at(size_t at) const {
    return at < tokens_.size() && tokens_[at].kind == Kind::Word && is_number(tokens_[at].text);
  }

  /// The longest type from here.
  std::optional<Type> read_type(size_t at, int nested) const {
    if (nested == 0) return std::nullopt;
    std::optional<Type> type = read_core(at, nested);
    while (type) {
      std::optional<Type> longer = read_suffix(*type, nested);
      if (!longer) break;
      type = std::move(longer);
    }
    return type;
  }

  /// A type without what may follow: `*`, an address space and `*`, parameters and `*`.
  std::optional<Type> read_core(size_t at, int nested) const {
    if (at >= tokens_.size()) return std::nullopt;
    const Token& token = tokens_[at];
    if (token.kind == Kind::Local) return Type{std::string(token.text), at + 1};
    if (token.kind == Kind::Word && is_simple_type(token.text)) return Type{std::string(token.text), at + 1};
    if (token.kind != Kind::Mark) return std::nullopt;
    if (token.text == "{") return read_members(at, nested);
    if (token.text == "[") return read_row(at, "]", nested);
    if (token.text != "<") return std::nullopt;
    if (!is_mark(at + 1, "{")) return read_row(at, ">", nested);
    std::optional<Type> packed = read_members(at + 1, nested);
    if (!packed || !is_mark(packed->end, ">")) return std::nullopt;
    return Type{"<" + packed->text + ">", packed->end + 1};
  }

  /// "[4 x T]", "<4 x T>".
  std::optional<Type> read_row(size_t at, std::string_view close, int nested) const {
    const size_t count = behind_space(at + 1), by = behind_space(count + 1);
    if (!is_number_at(count) || !is_word(by, "x")) return std::nullopt;
    const std::optional<Type> element = read_type(behind_space(by + 1), nested - 1);
    if (!element) return std::nullopt;
    const size_t end = behind_space(element->end);
    if (!is_mark(end, close)) return std::nullopt;
    return Type{
        std::string(tokens_[at].text) + std::string(tokens_[count].text) + " x " + element->text + std::string(close),
        end + 1};
  }

  /// "{ T, T }".
  std::optional<Type> read_members(size_t at, int nested) const {
    std::optional<Type> list = read_list(at, "}", nested);
    if (list) list->text = "{ " + list->text + " }";
    return list;
  }

  /// What stands between the mark at `at` and `close`: types, or "..." at the end.
  std::optional<Type> read_list(size_t at, std::string_view close, int nested) const {
    std::string text;
    at = behind_space(at + 1);
    if (is_mark(at, close)) return Type{"", at + 1};
    while (true) {
      if (is_mark(at, "...")) {
        text += "...";
        at = behind_space(at + 1);
      } else {
        const std::optional<Type> one = read_type(at, nested - 1);
        if (!one) return std::nullopt;
        text += one->text;
        at = behind_space(one->end);
      }
      if (is_mark(at, close)) return Type{std::move(text), at + 1};
      if (!is_mark(at, ",")) return std::nullopt;
      text += ", ";
      at = behind_space(at + 1);
    }
  }

  /// The type with one more part, if one follows. A function's type stands by itself only in calls; it is taken for a
  /// part of a type only where a star makes it a pointer.
  std::optional<Type> read_suffix(const Type& type, int nested) const {
    const size_t at = behind_space(type.end);
    if (is_mark(at, "*")) return Type{"ptr", at + 1, true, type.text};
    if (is_word(at, "addrspace") && is_mark(at + 1, "(") && is_number_at(at + 2) && is_mark(at + 3, ")")) {
      const std::string space = "ptr addrspace(" + std::string(tokens_[at + 2].text) + ")";
      if (type.text == "ptr" && !type.pointer) return Type{space, at + 4, true};
      const size_t star = behind_space(at + 4);
      if (is_mark(star, "*")) return Type{space, star + 1, true, type.text};
      return std::nullopt;
    }
    if (!is_mark(at, "(")) return std::nullopt;
    const std::optional<Type> parameters = read_list(at, ")", nested);
    if (!parameters) return std::nullopt;
    const size_t star = behind_space(parameters->end);
    if (!is_mark(star, "*")) return std::nullopt;
    return Type{"ptr", star + 1, true, type.text + " (" + parameters->text + ")"};
  }

  const std::vector<Token> tokens_;
  size_t at_ = 0;
  std::string out_;
  std::string pointee_;  ///< of the last typed pointer among a function's parameters
};

}  // namespace

std::optional<std::string> with_opaque_pointers(std::string_view text) {
  std::vector<Token> tokens = tokens_of(text);
  const bool typed =
      std::ranges::any_of(tokens, [](const Token& token) { return token.kind == Kind::Mark && token.text == "*"; });
  if (!typed) return std::nullopt;
  return Rewriting(std::move(tokens)).all();
}

}  // namespace cupola::kir
