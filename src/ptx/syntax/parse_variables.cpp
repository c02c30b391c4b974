#include <algorithm>
#include <bit>

#include "ptx/syntax/parse_state.h"

// Variables and parameters with their initialisers. PTX ISA, "Variables".

namespace cupola::ptx {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 40;  // bytes: beyond it no variable fits any device

constexpr uint64_t kMostInitial = uint64_t{1} << 26;  // elements: bounds what a short text can make us allocate

/// Directives that give a variable's type, vector, alignment.
std::optional<Space> space_named(std::string_view text) {
  for (const Space space : {Space::Const, Space::Global, Space::Local, Space::Param, Space::Shared, Space::Tex})
    if (text_of(space) == text) return space;
  return std::nullopt;
}

/// A constant as the bits of an element of `type`.
uint64_t element_bits(Type type, bool is_float, bool is_single, uint64_t bits) {
  if (!is_float || !ptx::is_float(type)) return bits;
  const double value = is_single ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  if (type == Type::F64) return is_single ? std::bit_cast<uint64_t>(value) : bits;
  if (type == Type::F32) return is_single ? bits : std::bit_cast<uint32_t>(static_cast<float>(value));
  return bits;
}

}  // namespace

uint64_t Variable::elements() const {
  if (open) return 0;
  uint64_t count = vector;
  for (const uint64_t dim : dims) count *= dim;
  return count;
}
uint64_t Variable::bytes() const {
  return elements() * ((bits_of(type) + 7) / 8);
}
uint32_t Variable::alignment() const {
  return align ? align : vector * ((bits_of(type) + 7) / 8);
}

/// What stands between the state space and the name: ".align 8 .v2 .b8", ".u64 .ptr .global .align 4", in any order.
Result<Variable> Parser::attributes(Space space) {
  Variable variable;
  variable.space = space;
  bool typed = false;
  while (token_.kind == Token::Kind::Directive) {
    const std::string_view word = token_.text.substr(1);
    if (word == "align") {
      advance();
      TRY(const uint64_t align, expect_integer("an alignment"));
      if (!std::has_single_bit(align) || align > 4096) return error("an alignment is a power of two up to 4096", last_);
      (variable.is_pointer ? variable.pointee_align : variable.align) = static_cast<uint32_t>(align);
      continue;
    }
    if (word == "attribute") {
      advance();
      TRY(expect("("));
      do {
        if (accept_directive("managed")) {
          variable.managed = true;
        } else if (accept_directive("unified")) {
          TRY(expect("("));
          TRY(expect_integer("a number"));
          TRY(expect(","));
          TRY(expect_integer("a number"));
          TRY(expect(")"));
        } else {
          return error("an attribute is expected, not " + shown());
        }
      } while (accept(","));
      TRY(expect(")"));
      continue;
    }
    if (word == "ptr") {
      variable.is_pointer = true;
    } else if (word == "v2" || word == "v4") {
      variable.vector = word == "v2" ? 2 : 4;
    } else if (const auto pointee = variable.is_pointer ? space_named(word) : std::nullopt) {
      variable.pointee = *pointee;
    } else if (const auto type = type_named(word); type && !typed) {
      variable.type = *type;
      typed = true;
    } else {
      return error("a type is expected, not " + shown());
    }
    advance();
  }
  if (!typed) return error("a type is expected, not " + shown());
  return variable;
}

/// "name", "name[4][8]", "name[]"
Result<Variable> Parser::declarator(const Variable& common) {
  Variable variable = common;
  variable.location = token_.location;
  TRY(variable.name, expect_name("a variable's name"));
  uint64_t bytes = variable.vector * ((bits_of(variable.type) + 7) / 8);
  while (accept("[")) {
    variable.is_array = true;
    if (accept("]")) {
      if (!variable.dims.empty()) return error("only the first dimension may be empty", last_);
      variable.open = true;
      continue;
    }
    TRY(const int64_t dim, integer_constant());
    if (dim < 0 || (dim != 0 && bytes > kLargest / static_cast<uint64_t>(dim)))
      return error("'" + std::string(variable.name) + "' is larger than any device's memory", last_);
    bytes *= std::max<uint64_t>(static_cast<uint64_t>(dim), 1);
    variable.dims.push_back(static_cast<uint64_t>(dim));
    TRY(expect("]"));
  }
  return variable;
}

Result<> Parser::variables(Space space, Linkage linkage, std::vector<Variable>& into, bool in_function) {
  TRY(Variable common, attributes(space));
  common.linkage = linkage;
  do {
    TRY(Variable variable, declarator(common));
    if (accept("<")) {  // .param .b32 p<4>: p0 to p3
      TRY(const uint64_t count, expect_integer("a count"));
      TRY(expect(">"));
      if (!in_function || count > 4096) return error("this many variables at once", last_);
      for (uint64_t i = 0; i < count; ++i) {
        Variable each = variable;
        // The module's text cannot grow: a name that stands nowhere needs storage of its own.
        m_.made_names.push_back(std::string(variable.name) + std::to_string(i));
        each.name = m_.made_names.back();
        TRY(declare(each.name, {Binding::Kind::Variable, static_cast<uint32_t>(into.size())}, each.location));
        add(Statement::Kind::Variable, into.size());
        into.push_back(std::move(each));
      }
      continue;
    }
    if (accept("=")) TRY(initializer(variable));
    if (variable.open && linkage != Linkage::Extern && variable.initial.empty() && space != Space::Param)
      return error("'" + std::string(variable.name) + "' has no size: give one, or declare it .extern",
                   variable.location);
    if (in_function) {
      TRY(declare(variable.name, {Binding::Kind::Variable, static_cast<uint32_t>(into.size())}, variable.location));
      add(Statement::Kind::Variable, into.size());
    } else {
      m_.items.push_back({Item::Kind::Variable, static_cast<uint32_t>(into.size())});
    }
    into.push_back(std::move(variable));
  } while (accept(","));
  return expect(";");
}

/// A number, a symbol with an offset, generic(symbol), 0xFF00(symbol)
Result<Initial> Parser::initial_value(Type type) {
  Initial value;
  const bool generic = token_.kind == Token::Kind::Name && token_.text == "generic";
  if (generic) {
    advance();
    TRY(expect("("));
  }
  if (token_.kind == Token::Kind::Name && token_.text != "WARP_SZ") {
    value.symbol = symbol(token_.text);
    value.generic = generic;
    advance();
    const auto offset = [&]() -> Result<> {
      if (!token_.is("+") && !token_.is("-")) return {};
      const bool minus = token_.is("-");
      advance();
      TRY(const Constant by, constant_unary());
      value.bits += minus ? 0 - by.bits : by.bits;
      return {};
    };
    TRY(offset());
    if (generic) TRY(expect(")"));
    TRY(offset());
    return value;
  }
  if (generic) return error("generic() wants a variable's name");
  const Location location = token_.location;
  TRY(const Constant number, constant());
  if (!accept("(")) {
    if (number.is_float && !ptx::is_float(type) && kind_of(type) != TypeKind::Bits)
      return error("a floating-point number for an integer", location);
    value.bits = element_bits(type, number.is_float, number.is_single, number.bits);
    return value;
  }
  const int zeros = std::countr_zero(number.bits);
  if (number.is_float || zeros % 8 != 0 || zeros >= 64 || number.bits >> zeros != 0xff)
    return error("the mask of an address is 0xFF at one of its bytes", location);
  if (token_.kind != Token::Kind::Name) return error("a mask is of a variable's address, not of " + shown());
  TRY(value, initial_value(type));
  TRY(expect(")"));
  value.mask_byte = static_cast<uint8_t>(zeros / 8);
  return value;
}

/// Elements of dimension `depth` from element `start` on; what is left out is zero.
Result<> Parser::initializer_list(Variable& variable, size_t depth, uint64_t start) {
  uint64_t step = variable.vector;
  for (size_t d = depth + 1; d < variable.dims.size() + (variable.open ? 1 : 0); ++d)
    step *= variable.dims[d - (variable.open ? 1 : 0)];
  const bool nested_dims = depth + 1 < variable.dims.size() + (variable.open ? 1 : 0);
  TRY(expect("{"));
  for (uint64_t at = start; !accept("}");) {
    if (at > kMostInitial) return error("an initial value beyond element 67108864 is not supported");
    if (token_.is("{")) {
      if (!nested_dims && variable.vector == 1) return error("more braces than dimensions");
      if (depth > 16) return error("too many dimensions");
      if (nested_dims) {
        TRY(initializer_list(variable, depth + 1, at));
      } else {
        advance();
        for (uint64_t i = 0; !accept("}"); ++i) {
          TRY(const Initial value, initial_value(variable.type));
          if (variable.initial.size() <= at + i) variable.initial.resize(at + i + 1);
          variable.initial[at + i] = value;
          if (!token_.is("}")) TRY(expect(","));
        }
      }
      at += step;
    } else {
      TRY(const Initial value, initial_value(variable.type));
      if (variable.initial.size() <= at) variable.initial.resize(at + 1);
      variable.initial[at] = value;
      ++at;
    }
    if (!variable.open && variable.initial.size() > variable.elements())
      return error("more values than '" + std::string(variable.name) + "' has elements", last_);
    if (!token_.is("}")) TRY(expect(","));
  }
  return {};
}

Result<> Parser::initializer(Variable& variable) {
  if (variable.space != Space::Global && variable.space != Space::Const)
    return error("only .global and .const variables have initial values", last_);
  if (token_.is("{")) {
    TRY(initializer_list(variable, 0, 0));
  } else {
    TRY(const Initial value, initial_value(variable.type));
    variable.initial.push_back(value);
  }
  if (variable.open) {  // the values give the size
    uint64_t inner = variable.vector;
    for (const uint64_t dim : variable.dims) inner *= dim;
    if (inner == 0) return error("'" + std::string(variable.name) + "' has a dimension of 0", variable.location);
    variable.dims.insert(variable.dims.begin(), (variable.initial.size() + inner - 1) / inner);
    variable.open = false;
  }
  return {};
}

}  // namespace cupola::ptx
