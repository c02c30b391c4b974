#pragma once

#include <cstdint>
#include <string_view>

#include "ptx/syntax/ast.h"

namespace cupola::ptx {

struct Token {
  enum class Kind : uint8_t {
    End,
    Name,       ///< identifier, with what is attached by dots: "ld.global.u32", "%tid.x", "$L__BB0_1"
    Directive,  ///< ".reg", ".v4", ".L1::evict_last": a word behind a dot
    Integer,    ///< value; 0x, 0b, octal, decimal, an optional U
    Float32,    ///< 0f: value holds the bits
    Float64,    ///< 0d or a decimal number: likewise
    String,     ///< text without the quotes
    Mark,       ///< punctuation; text is it, one or two characters
    Bad,        ///< what no token begins with, or a constant or string that does not end
  };
  Kind kind = Kind::End;
  std::string_view text;
  uint64_t value = 0;
  Location location;

  bool is(std::string_view mark) const { return kind == Kind::Mark && text == mark; }
  bool is_directive(std::string_view name) const { return kind == Kind::Directive && text.substr(1) == name; }
};

/// Takes PTX text apart. The text must end with a zero byte that is not part of it, and outlive the tokens.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : at_(text.data()), end_(text.data() + text.size()), line_start_(at_) {}
  Token next();
  /// From the place where the next token would begin up to the brace that closes the block that was opened; that brace
  /// is consumed.
  std::string_view raw_block();

 private:
  void skip_blanks();
  Token number(Token token);
  Token hexadecimal_float(Token token, unsigned digits);
  Location here() const { return {line_, static_cast<uint32_t>(at_ - line_start_) + 1}; }

  const char* at_;
  const char* end_;
  const char* line_start_;
  uint32_t line_ = 1;
};

}  // namespace cupola::ptx
