#include "ptx/syntax/lexer.h"

#include <bit>
#include <cctype>
#include <charconv>

namespace cupola::ptx {
namespace {

bool starts_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '%';
}
bool continues_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
}
int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

}  // namespace

void Lexer::skip_blanks() {
  while (at_ < end_) {
    if (*at_ == '\n') {
      ++at_;
      ++line_;
      line_start_ = at_;
    } else if (*at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\f' || *at_ == '\v') {
      ++at_;
    } else if (*at_ == '/' && at_[1] == '/') {
      while (at_ < end_ && *at_ != '\n') ++at_;
    } else if (*at_ == '/' && at_[1] == '*') {
      at_ += 2;
      while (at_ < end_ && !(*at_ == '*' && at_[1] == '/')) {
        if (*at_ == '\n') {
          ++line_;
          line_start_ = at_ + 1;
        }
        ++at_;
      }
      at_ = at_ < end_ ? at_ + 2 : end_;
    } else {
      return;
    }
  }
}

Token Lexer::hexadecimal_float(Token token, unsigned digits) {
  at_ += 2;
  unsigned seen = 0;
  for (; digit_of(*at_) < 16; ++at_, ++seen) token.value = token.value << 4 | static_cast<uint64_t>(digit_of(*at_));
  token.kind = seen != digits ? Token::Kind::Bad : digits == 8 ? Token::Kind::Float32 : Token::Kind::Float64;
  return token;
}

Token Lexer::number(Token token) {
  const char* start = at_;
  const auto finish = [&] {
    token.text = {start, static_cast<size_t>(at_ - start)};
    return token;
  };
  const char second = static_cast<char>(std::tolower(static_cast<unsigned char>(at_[1])));
  if (*at_ == '0' && (second == 'f' || second == 'd')) {
    token = hexadecimal_float(token, second == 'f' ? 8 : 16);
    return finish();
  }
  int base = 10;
  if (*at_ == '0' && (second == 'x' || second == 'b')) {
    base = second == 'x' ? 16 : 2;
    at_ += 2;
  } else if (*at_ == '0' && std::isdigit(static_cast<unsigned char>(second))) {
    base = 8;
  }
  bool any = false, overflow = false;
  for (; digit_of(*at_) < base; ++at_) {
    const uint64_t before = token.value;
    token.value = token.value * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit_of(*at_));
    overflow |= token.value / static_cast<uint64_t>(base) < before;
    any = true;
  }
  token.kind = any && !overflow ? Token::Kind::Integer : Token::Kind::Bad;
  const bool fraction = *at_ == '.' && std::isdigit(static_cast<unsigned char>(at_[1]));
  const bool ends_with_dot = *at_ == '.' && !std::isalpha(static_cast<unsigned char>(at_[1]));
  if (base != 16 && base != 2 && (fraction || ends_with_dot || *at_ == 'e' || *at_ == 'E')) {
    double value = 0;
    const auto [stop, error] = std::from_chars(start, end_, value);  // unlike strtod, the same in every locale
    at_ = stop;
    token.value = std::bit_cast<uint64_t>(value);
    token.kind = error == std::errc() ? Token::Kind::Float64 : Token::Kind::Bad;
    return finish();
  }
  if (*at_ == 'U') ++at_;
  if (continues_name(*at_)) token.kind = Token::Kind::Bad;
  return finish();
}

Token Lexer::next() {
  skip_blanks();
  Token token;
  token.location = here();
  if (at_ >= end_) return token;
  const char* start = at_;
  const auto finish = [&](Token::Kind kind) {
    token.kind = kind;
    token.text = {start, static_cast<size_t>(at_ - start)};
    return token;
  };
  if (starts_name(*at_)) {
    ++at_;
    while (continues_name(*at_) || (*at_ == '.' && continues_name(at_[1])) ||
           (*at_ == ':' && at_[1] == ':' && continues_name(at_[2])) || (at_[-1] == ':' && *at_ == ':'))
      ++at_;
    return finish(Token::Kind::Name);
  }
  if (*at_ == '.' && continues_name(at_[1])) {
    ++at_;
    while (continues_name(*at_) || (*at_ == ':' && at_[1] == ':' && continues_name(at_[2])) ||
           (at_[-1] == ':' && *at_ == ':'))
      ++at_;
    return finish(Token::Kind::Directive);
  }
  if (std::isdigit(static_cast<unsigned char>(*at_))) return number(token);
  if (*at_ == '"') {
    ++at_;
    start = at_;
    while (at_ < end_ && *at_ != '"' && *at_ != '\n') at_ += *at_ == '\\' && at_ + 1 < end_ ? 2 : 1;
    if (at_ >= end_ || *at_ != '"') return finish(Token::Kind::Bad);
    finish(Token::Kind::String);
    ++at_;
    return token;
  }
  static constexpr std::string_view kTwo[] = {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"};
  for (const std::string_view two : kTwo)
    if (*at_ == two[0] && at_[1] == two[1]) {
      at_ += 2;
      return finish(Token::Kind::Mark);
    }
  static constexpr std::string_view kMarks = "{}()[]<>,;:@!|=+-*/%&^~?";
  const bool known = kMarks.contains(*at_);
  ++at_;
  return finish(known ? Token::Kind::Mark : Token::Kind::Bad);
}

std::string_view Lexer::raw_block() {
  const char* start = at_;
  while (at_ < end_ && *at_ != '}') {
    if (*at_ == '\n') {
      ++line_;
      line_start_ = at_ + 1;
    }
    ++at_;
  }
  const std::string_view text(start, static_cast<size_t>(at_ - start));
  if (at_ < end_) ++at_;
  return text;
}

}  // namespace cupola::ptx
