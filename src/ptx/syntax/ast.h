#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/syntax/isa.h"

// A PTX module as the parser leaves it: flat arrays, indices instead of pointers, names that point into the module's
// own copy of the text. Registers, labels and variables are resolved to their declarations by scope; names of the
// module's own symbols are not, because other modules may bring them.

namespace cupola::ptx {

struct Location {
  uint32_t line = 0;  ///< from 1
  uint32_t column = 0;
};

/// An operand, or a part of one. Parts of vectors, addresses and pairs stand one after another in Function::operands.
struct Operand {
  enum class Kind : uint8_t {
    Register,   ///< index: Function::registers
    Special,    ///< index: a Special; component 0 to 3 for .x to .w
    Immediate,  ///< value: an integer's 64 bits
    Float32,    ///< value: the bits of a 0f constant
    Float64,    ///< value: the bits of a 0d or decimal constant
    Variable,   ///< index: Function::variables; value: an offset in bytes
    Symbol,     ///< index: Module::names; value: an offset in bytes
    Label,      ///< index: Function::labels
    Address,    ///< count parts from index: the base (value: offset in bytes), then what follows it in the brackets
    Vector,     ///< count parts from index: {a, b, c, d}; also the lists of a call
    Pair,       ///< two parts from index: d|p
    Sink,       ///< _
  };
  Kind kind = Kind::Sink;
  bool negated = false;  ///< !p; -r of vmad
  /// Special: 0 to 3. Register: 0 whole, 1 to 4 .b0 to .b3, 5 and 6 .h0 and .h1, 7 to 10 .x to .w. kHalves and kBytes:
  /// a list such as .h10 or .b3210, whose `count` digits `value` holds as a hexadecimal number.
  uint8_t component = 0;
  static constexpr uint8_t kLastPart = 6, kHalves = 11, kBytes = 12;
  /// Whether a part of a 32-bit register is meant, or several: operands of video instructions.
  bool is_part() const { return (component >= 1 && component <= kLastPart) || component >= kHalves; }
  uint16_t count = 0;
  uint32_t index = 0;
  int64_t value = 0;
};

struct Instruction {
  const Form* form = nullptr;
  int32_t guard = -1;  ///< register, or -1
  bool guard_negated = false;
  uint16_t operand_count = 0;
  uint32_t first_operand = 0;  ///< in Function::operands
  Location location;
  uint32_t source = 0;  ///< Function::sources, or 0 for none
};

/// `.loc`: the place in the program's source that the instructions behind it come from.
struct Source {
  uint32_t file = 0;  ///< number of a `.file`
  uint32_t line = 0, column = 0;
  std::string_view function;  ///< label behind `function_name`, or empty; `inlined_at` gives the place of the call
  uint32_t function_offset = 0;
  uint32_t inlined_file = 0, inlined_line = 0, inlined_column = 0;
};

/// One element of an initialiser: a number's bits, or an address.
struct Initial {
  uint64_t element = 0;         ///< which one, counted row by row
  uint64_t bits = 0;            ///< or the addend of the symbol
  uint32_t symbol = kNoSymbol;  ///< Module::names
  bool generic = false;         ///< generic(symbol)
  uint8_t mask_byte = 0xff;  ///< 0xFF00(symbol): the byte of the address that is meant, 0 to 7; 0xff the whole address
  static constexpr uint32_t kNoSymbol = ~0u;
};

enum class Linkage : uint8_t { Internal, Extern, Visible, Weak, Common };

struct Variable {
  std::string_view name;
  Space space = Space::Global;
  Type type = Type::B32;
  uint8_t vector = 1;  ///< .v2, .v4
  uint32_t align = 0;  ///< bytes; 0: natural
  Linkage linkage = Linkage::Internal;
  bool managed = false;
  bool is_array = false;
  bool open = false;  ///< "[]": the launch or another module gives the size
  std::vector<uint64_t> dims;
  std::vector<Initial> initial;  ///< in the order of their elements; those that are left out are zero
  Location location;
  /// "u64 .ptr .global .align 16": what a kernel's parameter points to.
  bool is_pointer = false;
  Space pointee = Space::Generic;
  uint32_t pointee_align = 0;

  uint64_t elements() const;  ///< product of dims and vector; 0 for an open array
  uint64_t bytes() const;
  uint32_t alignment() const;  ///< the given one or the natural one
};

struct Register {
  std::string_view name;
  Type type = Type::B32;
  uint8_t vector = 1;
};

/// `.reg .b32 %r<9>, %x;` for printing.
struct RegisterDeclaration {
  Type type = Type::B32;
  uint8_t vector = 1;
  struct Name {
    std::string_view name;
    uint32_t count = 0;  ///< of "<count>"; 0 for a single one
  };
  std::vector<Name> names;
};

/// `prototype: .callprototype (.param .b32 _) _ (.param .b64 _);`
struct Prototype {
  std::string_view label;
  std::vector<Variable> results, parameters;
  bool noreturn = false;
};

/// `targets: .branchtargets a, b;` and `.calltargets f, g;`
struct TargetList {
  std::string_view label;
  bool calls = false;
  std::vector<uint32_t> targets;  ///< Function::labels, or Module::names for calls
};

struct Statement {
  enum class Kind : uint8_t { Instruction, Label, Registers, Variable, Open, Close, Loc, Pragma, Prototype, Targets };
  Kind kind;
  uint32_t index;
};

struct PerformanceBound {
  std::string_view name;  ///< "maxntid"
  std::vector<uint32_t> numbers;
};

struct Function {
  std::string_view name;
  bool is_kernel = false;
  bool has_body = false;
  bool noreturn = false;
  Linkage linkage = Linkage::Internal;
  Location location;
  std::vector<Variable> results, parameters;  ///< also in `variables`, first, in this order, for a function with a body
  std::vector<PerformanceBound> bounds;
  std::vector<std::string_view> pragmas;

  std::vector<Statement> body;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Register> registers;
  std::vector<RegisterDeclaration> register_declarations;
  std::vector<Variable> variables;
  std::vector<std::string_view> labels;
  std::vector<Source> sources{1};
  std::vector<Prototype> prototypes;
  std::vector<TargetList> target_lists;

  const Operand* operands_of(const Instruction& instruction) const {
    return operands.data() + instruction.first_operand;
  }
};

struct SourceFile {
  uint32_t number;
  std::string_view name;
};

/// `.section .debug_info { ... }`, kept as its text.
struct Section {
  std::string_view name, text;
};

/// What stands at module level, in order.
struct Item {
  enum class Kind : uint8_t { Variable, Function, File, Section, Alias, Pragma };
  Kind kind;
  uint32_t index;
};

struct Alias {
  std::string_view name, target;
};

struct Module {
  // A move leaves the text's characters and the forms where they are; a copy's names and forms would be the first's.
  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  std::string text;                       ///< all names point here; ends with a zero byte
  uint32_t version = 0;                   ///< 8.7 is 87
  std::vector<std::string_view> targets;  ///< "sm_89", "debug"
  uint32_t address_size = 64;
  std::vector<Item> items;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<SourceFile> files;
  std::vector<Section> sections;
  std::vector<Alias> aliases;
  std::vector<std::string_view> pragmas;
  std::vector<std::string_view> names;  ///< of symbols that operands and initialisers name
  std::deque<std::string> made_names;   ///< names that the text does not spell: of ".param .b32 p<4>"
  FormTable forms;
};

}  // namespace cupola::ptx
