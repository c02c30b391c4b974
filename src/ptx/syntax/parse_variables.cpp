#include <algorithm>
#include <bit>

#include "ptx/syntax/parse_state.h"

// Variables and parameters with their initialisers. PTX ISA, "Variables".

namespace cupola::ptx {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 40;  // bytes: beyond it no variable fits any device
constexpr unsigned kWidestVector = 128;           // bits
constexpr size_t kMostDimensions = 16;

// Bounds on what a short text can make us allocate.
constexpr uint64_t kMostInitialBytes = uint64_t{1} << 26;  // of one module's variables with initial values
constexpr size_t kMostAtOnce = size_t{1} << 16;            // variables of one "<count>"
constexpr size_t kFreelyMade = 8192, kTextPerMade = 8;  // names made of "<count>": this many, and one for 8 characters

/// Directives that give a variable's type, vector, alignment.
std::optional<Space> space_named(std::string_view text) {
  for (const Space space : {Space::Const, Space::Global, Space::Local, Space::Param, Space::Shared, Space::Tex})
    if (text_of(space) == text) return space;
  return std::nullopt;
}

/// A constant as the bits of an element of `type`.
uint64_t element_bits(Type type, bool is_single, uint64_t bits) {
  const double value = is_single ? std::bit_cast<float>(static_cast<uint32_t>(bits)) : std::bit_cast<double>(bits);
  if (type == Type::F64) return is_single ? std::bit_cast<uint64_t>(value) : bits;
  if (type == Type::F32) return is_single ? bits : std::bit_cast<uint32_t>(static_cast<float>(value));
  return bits;
}

/// Types of which no variable in memory can be: predicates, and what only instructions name. PTX ISA, "Predicate
/// Operands", "Alternate Floating-Point Data Formats".
bool has_variables(Type type) {
  const TypeKind kind = kind_of(type);
  return bits_of(type) >= 8 && kind != TypeKind::Bytes &&
         (kind != TypeKind::Float || type == Type::F16 || type == Type::F32 || type == Type::F64);
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
  if (space != Space::Reg && !has_variables(variable.type))
    return error(formatted("a variable in memory cannot be of type .{}", text_of(variable.type)), last_);
  if (variable.vector * bits_of(variable.type) > kWidestVector)
    return error(formatted("a vector has {} bits at most", kWidestVector), last_);
  return variable;
}

/// "name", "name[4][8]", "name[]"
Result<Variable> Parser::declarator(const Variable& common) {
  Variable variable = common;
  variable.location = token_.location;
  TRY(variable.name, expect_name("a variable's name"));
  uint64_t bytes = variable.vector * ((bits_of(variable.type) + 7) / 8);
  while (accept("[")) {
    if (variable.dims.size() == kMostDimensions) return error("too many dimensions", last_);
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

/// ".param .b32 p<4>": p0 to p3. The module's text cannot grow: a name that stands nowhere has storage of its own.
Result<> Parser::numbered_variables(const Variable& variable, std::vector<Variable>& into, bool in_function) {
  TRY(const uint64_t count, expect_integer("a count"));
  TRY(expect(">"));
  if (!in_function || count > kMostAtOnce || m_.made_names.size() + count > kFreelyMade + m_.text.size() / kTextPerMade)
    return error("this many variables at once", last_);
  for (uint64_t i = 0; i < count; ++i) {
    Variable each = variable;
    m_.made_names.push_back(std::string(variable.name) + std::to_string(i));
    each.name = m_.made_names.back();
    TRY(declare(each.name, {Binding::Kind::Variable, static_cast<uint32_t>(into.size())}, each.location));
    add(Statement::Kind::Variable, into.size());
    into.push_back(std::move(each));
  }
  return {};
}

Result<> Parser::variables(Space space, Linkage linkage, std::vector<Variable>& into, bool in_function) {
  TRY(Variable common, attributes(space));
  common.linkage = linkage;
  do {
    TRY(Variable variable, declarator(common));
    if (accept("<")) {
      TRY(numbered_variables(variable, into, in_function));
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
    if (!is_integer(type) || bits_of(type) < 32) return error(formatted("an address for a .{}", text_of(type)));
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
    if (ptx::is_float(type) && (!number.is_float || type == Type::F16))
      return error(formatted("a .{} begins with {}", text_of(type),
                             type == Type::F16 ? "its bits; declare it .b16" : "a number with a point, such as 1.0"),
                   location);
    value.bits = number.is_float ? element_bits(type, number.is_single, number.bits) : number.bits;
    return value;
  }
  const int zeros = std::countr_zero(number.bits);
  if (number.is_float || zeros % 8 != 0 || zeros >= 64 || number.bits >> zeros != 0xff)
    return error("the mask of an address is 0xFF at one of its bytes", location);
  if (token_.kind != Token::Kind::Name) return error("a mask is of a variable's address, not of " + shown());
  TRY(value, initial_value(Type::U64));
  TRY(expect(")"));
  value.mask_byte = static_cast<uint8_t>(zeros / 8);
  return value;
}

/// Takes one value for `element`.
Result<> Parser::initial_element(Variable& variable, uint64_t element) {
  if (!variable.open && element >= variable.elements())
    return error("more values than '" + std::string(variable.name) + "' has elements", last_);
  TRY(Initial value, initial_value(variable.type));
  value.element = element;
  variable.initial.push_back(value);
  return {};
}

/// Elements of dimension `depth` from element `start` on, behind the opening brace; what is left out is zero. The
/// element behind the last.
Result<uint64_t> Parser::initializer_list(Variable& variable, size_t depth, uint64_t start) {
  const size_t dims = variable.dims.size() + (variable.open ? 1 : 0);
  uint64_t step = variable.vector;  // elements of one entry of this list
  for (size_t d = depth + 1; d < dims; ++d) step *= variable.dims[d - (variable.open ? 1 : 0)];
  const bool nested = depth + 1 < dims;
  if (!nested && depth >= dims) step = 1;
  uint64_t at = start;
  while (!accept("}")) {
    if (at != start) TRY(expect(","));
    if (accept("{")) {
      if (!nested && (variable.vector == 1 || depth >= dims)) return error("more braces than dimensions", last_);
      TRY(const uint64_t end, initializer_list(variable, depth + 1, at));
      if (end > at + step) return error("more values than a row has elements", last_);
      if (step == 0) return error("'" + std::string(variable.name) + "' has a dimension of 0", last_);
      at += step;
    } else {
      if (step != 1) return error("'{' is expected: values of an array of arrays or vectors stand in braces");
      TRY(initial_element(variable, at));
      ++at;
    }
    TRY(bound_initial(variable, at));  // here: rows of an open array could add up to more than 64 bits hold
  }
  return at;
}

Result<> Parser::bound_initial(const Variable& variable, uint64_t bytes) {
  if (bytes <= kMostInitialBytes) return {};
  return error(formatted("initial values of more than {} MiB: copy them in at run time", kMostInitialBytes >> 20),
               variable.location);
}

Result<> Parser::initializer(Variable& variable) {
  if (variable.space != Space::Global && variable.space != Space::Const)
    return error("only .global and .const variables have initial values", last_);
  if (variable.linkage == Linkage::Extern)
    return error("an .extern variable has its initial value where it is defined", last_);
  if (accept("{")) {
    TRY(const uint64_t end, initializer_list(variable, 0, 0));
    if (variable.open) {  // the values give the size
      uint64_t inner = variable.vector;
      for (const uint64_t dim : variable.dims) inner *= dim;
      if (inner == 0) return error("'" + std::string(variable.name) + "' has a dimension of 0", variable.location);
      variable.dims.insert(variable.dims.begin(), (end + inner - 1) / inner);
      variable.open = false;
    } else if (end > variable.elements()) {
      return error("more rows than '" + std::string(variable.name) + "' has", last_);
    }
  } else {
    if (variable.is_array || variable.vector > 1) return error("'{' is expected, not " + shown());
    TRY(initial_element(variable, 0));
  }
  initial_bytes_ += variable.bytes();
  return bound_initial(variable, initial_bytes_);
}

}  // namespace cupola::ptx
