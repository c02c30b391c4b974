#include <bit>

#include "ptx/syntax/parse_state.h"

// Constant expressions. PTX ISA, "Constant Expressions": C's operators over 64-bit integers, and floating-point
// constants.

namespace cupola::ptx {
namespace {

constexpr unsigned kDeepest = 200;

struct Operator {
  std::string_view text;
  int precedence;
};
constexpr Operator kOperators[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6},
                                   {"!=", 6}, {"<", 7},  {"<=", 7}, {">", 7},  {">=", 7}, {"<<", 8},
                                   {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10}};

uint64_t apply(std::string_view op, uint64_t x, uint64_t y) {
  const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
  if (op == "||") return x || y;
  if (op == "&&") return x && y;
  if (op == "|") return x | y;
  if (op == "^") return x ^ y;
  if (op == "&") return x & y;
  if (op == "==") return x == y;
  if (op == "!=") return x != y;
  if (op == "<") return sx < sy;
  if (op == "<=") return sx <= sy;
  if (op == ">") return sx > sy;
  if (op == ">=") return sx >= sy;
  if (op == "<<") return y < 64 ? x << y : 0;
  if (op == ">>") return static_cast<uint64_t>(sx >> (y < 64 ? y : 63));
  if (op == "+") return x + y;
  if (op == "-") return x - y;
  if (op == "*") return x * y;
  if (sy == -1) return op == "/" ? 0 - x : 0;
  return op == "/" ? static_cast<uint64_t>(sx / sy) : static_cast<uint64_t>(sx % sy);
}

}  // namespace

Result<Parser::Constant> Parser::constant_unary() {
  if (++depth_ > kDeepest) return error("the expression nests too deeply");
  struct Leave {
    unsigned& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  if (accept("-")) {
    TRY(Constant value, constant_unary());
    if (value.is_float)
      value.bits ^= value.is_single ? uint64_t{1} << 31 : uint64_t{1} << 63;
    else
      value.bits = 0 - value.bits;
    return value;
  }
  if (accept("+")) return constant_unary();
  if (accept("~") || token_.is("!")) {
    const bool logical = accept("!");
    TRY(Constant value, constant_unary());
    if (value.is_float) return error("this operator wants an integer");
    value.bits = logical ? !value.bits : ~value.bits;
    return value;
  }
  if (accept("(")) {
    if (accept_directive("s64") || accept_directive("u64")) {  // casts change no bits
      TRY(expect(")"));
      return constant_unary();
    }
    TRY(const Constant value, constant());
    TRY(expect(")"));
    return value;
  }
  Constant value;
  if (token_.kind == Token::Kind::Name && token_.text == "WARP_SZ") {
    value.bits = 32;
  } else if (token_.kind == Token::Kind::Integer) {
    value.bits = token_.value;
  } else if (token_.kind == Token::Kind::Float32 || token_.kind == Token::Kind::Float64) {
    value = {true, token_.kind == Token::Kind::Float32, token_.value};
  } else {
    return error("a constant is expected, not " + shown());
  }
  advance();
  return value;
}

Result<Parser::Constant> Parser::constant_binary(int least) {
  TRY(Constant left, constant_unary());
  for (;;) {
    const Operator* op = nullptr;
    for (const Operator& each : kOperators)
      if (token_.is(each.text) && each.precedence >= least) op = &each;
    if (!op) return left;
    const Location location = token_.location;
    advance();
    TRY(const Constant right, constant_binary(op->precedence + 1));
    if (left.is_float || right.is_float) return error("an expression of floating-point constants", location);
    if (right.bits == 0 && (op->text == "/" || op->text == "%")) return error("division by zero", location);
    left.bits = apply(op->text, left.bits, right.bits);
  }
}

Result<Parser::Constant> Parser::constant() {
  if (++depth_ > kDeepest) return error("the expression nests too deeply");
  struct Leave {
    unsigned& depth;
    ~Leave() { --depth; }
  } leave{depth_};
  TRY(const Constant value, constant_binary(1));
  if (!accept("?")) return value;
  TRY(const Constant then, constant());
  TRY(expect(":"));
  TRY(const Constant otherwise, constant());
  return value.bits ? then : otherwise;
}

Result<int64_t> Parser::integer_constant() {
  const Location location = token_.location;
  TRY(const Constant value, constant());
  if (value.is_float) return error("an integer is expected", location);
  return static_cast<int64_t>(value.bits);
}

}  // namespace cupola::ptx
