#include <algorithm>
#include <iterator>

#include "ptx/syntax/parse_state.h"

// Operands of instructions. PTX ISA, "Instruction Operands".

namespace cupola::ptx {
namespace {

constexpr size_t kMostParts = 4096;

/// As in Operand::component; 0 for a word that is none. Vectors' parts are also called .r .g .b .a.
uint8_t component_named(std::string_view word) {
  constexpr std::string_view kWords[] = {"b0", "b1", "b2", "b3", "h0", "h1", "x", "y", "z", "w", "r", "g", "b", "a"};
  const auto found = std::ranges::find(kWords, word);
  const auto place = static_cast<uint8_t>(found - std::begin(kWords));
  return found == std::end(kWords) ? 0 : static_cast<uint8_t>(place < 10 ? place + 1 : place - 3);
}

/// ".h10", ".b7654": the halves or bytes that a SIMD video instruction works on.
bool set_lanes(Operand& operand, std::string_view word) {
  const bool halves = word.starts_with('h');
  if ((!halves && !word.starts_with('b')) || word.size() < 3 || word.size() > (halves ? 3u : 5u)) return false;
  word.remove_prefix(1);
  int64_t digits = 0;
  for (const char c : word) {
    if (c < '0' || c > (halves ? '3' : '7')) return false;
    digits = digits << 4 | (c - '0');
  }
  operand.component = halves ? Operand::kHalves : Operand::kBytes;
  operand.count = static_cast<uint16_t>(word.size());
  operand.value = digits;
  return true;
}

}  // namespace

/// Lays the parts one after another and makes the operand that stands for them.
Result<Operand> Parser::parts(Operand::Kind kind, const std::vector<Operand>& parts) {
  if (parts.size() > kMostParts) return error("too many operands in one list");
  Operand whole;
  whole.kind = kind;
  whole.index = static_cast<uint32_t>(f_->operands.size());
  whole.count = static_cast<uint16_t>(parts.size());
  f_->operands.insert(f_->operands.end(), parts.begin(), parts.end());
  return whole;
}

/// A register, a special register, a variable, a symbol, a label.
Result<Operand> Parser::named() {
  const Location location = token_.location;
  const std::string_view whole = token_.text;
  advance();
  const size_t dot = whole.find('.');
  const std::string_view name = whole.substr(0, dot);
  const std::string_view selector = dot == std::string_view::npos ? std::string_view() : whole.substr(dot + 1);
  Operand operand;
  if (whole == "_") return operand;
  // A label is looked for when the braces close: one that is declared later in this block wins over one around it.
  const Binding* binding = find(name);
  if (binding && binding->kind != Binding::Kind::Label) {
    operand.index = binding->index;
    switch (binding->kind) {
      case Binding::Kind::Register:
        operand.kind = Operand::Kind::Register;
        break;
      case Binding::Kind::Variable:
        operand.kind = Operand::Kind::Variable;
        break;
      case Binding::Kind::Label:
        break;
      case Binding::Kind::Prototype:
      case Binding::Kind::Targets:
        operand.kind = Operand::Kind::Symbol;
        operand.index = symbol(name);
        break;
    }
    if (!selector.empty()) {
      operand.component = component_named(selector);
      if (operand.component == 0) set_lanes(operand, selector);
      if (operand.kind != Operand::Kind::Register || operand.component == 0)
        return error(formatted("'{}' has no part '.{}'", name, selector), location);
    }
    return operand;
  }
  if (const auto special = special_named(name)) {
    operand.kind = Operand::Kind::Special;
    operand.index = static_cast<uint32_t>(*special);
    const uint8_t component = selector.empty() ? 7 : component_named(selector);
    if (selector.empty() != (components_of(*special) == 1) || component < 7)
      return error(formatted("'{}' is not a special register", whole), location);
    operand.component = static_cast<uint8_t>(component - 7);
    return operand;
  }
  if (name.starts_with("%envreg")) {  // the environment's registers: zero, as without an environment
    operand.kind = Operand::Kind::Immediate;
    return operand;
  }
  if (name.starts_with('%')) return error(formatted("'{}' is not declared", name), location);
  if (!selector.empty()) return error(formatted("'{}' is not declared", whole), location);
  operand.kind = Operand::Kind::Symbol;
  operand.index = symbol(name);
  return operand;
}

Result<Operand> Parser::primary() {
  if (token_.kind == Token::Kind::Name && token_.text != "WARP_SZ") {
    TRY(Operand operand, named());
    const bool has_offset = operand.kind == Operand::Kind::Variable || operand.kind == Operand::Kind::Symbol;
    if (has_offset && (token_.is("+") || token_.is("-"))) {
      const bool minus = accept("-");
      if (!minus) TRY(expect("+"));
      TRY(const Constant offset, constant_unary());
      operand.value = static_cast<int64_t>(minus ? 0 - offset.bits : offset.bits);
    }
    return operand;
  }
  TRY(const Constant value, constant());
  Operand operand;
  operand.kind = !value.is_float   ? Operand::Kind::Immediate
                 : value.is_single ? Operand::Kind::Float32
                                   : Operand::Kind::Float64;
  operand.value = static_cast<int64_t>(value.bits);
  return operand;
}

/// "array[2]": the address of an element, counted as one of the array's type whatever its dimensions; '[' is consumed
/// already. "PTX ISA", Arrays as Operands; an H200 counts elements of rows and vectors one by one, in 32 bits.
Result<> Parser::element(Operand& operand) {
  const Variable* array = nullptr;
  if (operand.kind == Operand::Kind::Variable) array = &f_->variables[operand.index];
  if (operand.kind == Operand::Kind::Symbol) {
    const auto known = std::ranges::find(m_.variables, m_.names[operand.index], &Variable::name);
    if (known != m_.variables.end()) array = &*known;
  }
  if (!array || !array->is_array || operand.value != 0) return error("an index belongs to the name of an array");
  TRY(const int64_t index, integer_constant());
  TRY(expect("]"));
  operand.value = static_cast<uint32_t>(static_cast<uint64_t>(index) * (bits_of(array->type) / 8));
  return {};
}

/// "{a, b}" or, for a call, "(a, b)"; the opening mark is consumed already.
Result<Operand> Parser::vector(std::string_view closing) {
  std::vector<Operand> list;
  while (!accept(closing)) {
    if (!list.empty()) TRY(expect(","));
    TRY(Operand part, primary());
    list.push_back(part);
    if (list.size() > kMostParts) return error("too many operands in one list");
  }
  return parts(Operand::Kind::Vector, list);
}

/// "[base]", "[base+4]", "[texture, {x, y}]", "[tensor, {x, y}, ...]"; '[' is consumed already. The base carries the
/// offset.
Result<Operand> Parser::address() {
  std::vector<Operand> list;
  do {
    if (accept("{")) {
      TRY(const Operand part, vector("}"));
      list.push_back(part);
      continue;
    }
    TRY(Operand base, primary());
    if (base.kind == Operand::Kind::Register) {
      while (token_.is("+") || token_.is("-")) {
        const bool minus = accept("-");
        if (!minus) TRY(expect("+"));
        TRY(const Constant offset, constant_unary());
        base.value += static_cast<int64_t>(minus ? 0 - offset.bits : offset.bits);
      }
    }
    list.push_back(base);
  } while (accept(","));
  TRY(expect("]"));
  return parts(Operand::Kind::Address, list);
}

Result<Operand> Parser::operand() {
  if (accept("{")) return vector("}");
  if (accept("[")) return address();
  if (accept("!")) {
    TRY(Operand predicate, primary());
    predicate.negated = true;
    return predicate;
  }
  if (token_.is("-")) {  // of a constant, or of a register
    Lexer ahead = lexer_;
    if (const Token next = ahead.next(); next.kind == Token::Kind::Name && next.text != "WARP_SZ") {
      advance();
      TRY(Operand negative, primary());
      negative.negated = true;
      return negative;
    }
  }
  TRY(Operand first, primary());
  if (accept("[")) {
    TRY(element(first));
    return first;
  }
  if (!accept("|")) return first;
  TRY(const Operand second, primary());
  return parts(Operand::Kind::Pair, {first, second});
}

}  // namespace cupola::ptx
