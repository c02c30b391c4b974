#include "ptx/syntax/parser.h"

#include "ptx/syntax/parse_state.h"

namespace cupola::ptx {

Parser::Parser(Module& module) : m_(module), lexer_(module.text) {
  token_ = lexer_.next();
}

bool Parser::accept(std::string_view mark) {
  if (!token_.is(mark)) return false;
  advance();
  return true;
}

bool Parser::accept_directive(std::string_view name) {
  if (!token_.is_directive(name)) return false;
  advance();
  return true;
}

Result<> Parser::expect(std::string_view mark) {
  if (accept(mark)) return {};
  return error(formatted("'{}' is expected, not {}", mark, shown()));
}

Result<std::string_view> Parser::expect_name(const char* what) {
  if (token_.kind != Token::Kind::Name) return error(formatted("{} is expected, not {}", what, shown()));
  const std::string_view name = token_.text;
  advance();
  return name;
}

Result<uint64_t> Parser::expect_integer(const char* what) {
  const Location location = token_.location;
  TRY(const Constant value, constant_binary(kSum));  // "%r<9>": the bracket is no comparison
  if (value.is_float || value.bits > 0xffffffff) return error(formatted("{} is expected", what), location);
  return value.bits;
}

std::unexpected<Error> Parser::error(std::string message, Location location) const {
  return fail(ErrorCode::InvalidPtx, "ptx: line {}, column {}: {}", location.line, location.column, message);
}

std::string Parser::shown() const {
  constexpr size_t kLongest = 60;
  if (token_.kind == Token::Kind::End) return "the end of the text";
  std::string text;
  for (const char c : token_.text.substr(0, kLongest)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte < 0x20 || byte > 0x7e ? formatted("\\x{:02x}", byte) : std::string(1, c);
  }
  return "'" + text + "'";
}

uint32_t Parser::symbol(std::string_view name) {
  const auto [at, added] = symbols_.try_emplace(name, static_cast<uint32_t>(m_.names.size()));
  if (added) m_.names.push_back(name);
  return at->second;
}

namespace {

/// The module's own copy of the text; loaders pass a final zero byte along.
Module with_text(std::string text) {
  Module module;
  while (!text.empty() && text.back() == '\0') text.pop_back();
  module.text = std::move(text);
  return module;
}

}  // namespace

// Names point into Module::text, and moving a std::string keeps its characters in place only when they are on the heap.
Result<Module> parse(std::string text) {
  text.reserve(64);
  Module module = with_text(std::move(text));
  TRY(Parser(module).module());
  return module;
}

Result<Module> parse_fragment(std::string text, std::span<const Register> bound) {
  text.reserve(64);
  Module module = with_text(std::move(text));
  TRY(Parser(module).fragment(bound));
  return module;
}

}  // namespace cupola::ptx
