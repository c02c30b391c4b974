#pragma once

#include <bitset>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ptx/syntax/types.h"

// The table of instructions. A row of isa.def is a family of forms: an opcode, the modifiers that may follow it and the
// operands that it takes, as the PTX ISA's page writes them. Parser, printer, verifier, form generators, the lowering
// and docs/ptx.md are driven by it.

namespace cupola::ptx {

struct Form;

/// How an operand's type follows from the instruction's.
enum class TypeRule : uint8_t {
  Last,   ///< the last type of the form (the only one of most)
  First,  ///< the first
  Second,
  Third,
  Wide,  ///< twice the bits of the last
  Fixed,
  Bits,  ///< the untyped type with the bits of the last
  Any,   ///< whatever the register has
};

/// One operand of a row. `[a]` is an address, `{a}` a vector where the form has .v2, .v4 or .v8, `{a*}` a vector of any
/// length or one register, `d/p` a destination and a predicate destination behind a bar, `#a` a constant, `a~` may sit
/// in a wider register of any type, `a+` may be the address of a variable, `a?` may be left out, `a?w` stands exactly
/// where the form has one of the words w, `a?w?` must stand there and may elsewhere, `@a` a label or the name of a
/// table of them.
struct OperandSpec {
  enum class Kind : uint8_t { Value, Address, Vector, AnyVector, Constant, Label };
  enum class Presence : uint8_t { Required, Allowed, Absent };
  Kind kind = Kind::Value;
  char name = 0;  ///< 'd' is written, all others are read
  bool optional = false;
  bool relaxed = false;         ///< a wider register will do
  bool with_predicate = false;  ///< "d|p"
  bool address_of = false;      ///< a variable's or function's name stands for its address
  TypeRule rule = TypeRule::Last;
  Type fixed = Type::B32;
  std::vector<Modifier> with;  ///< the words that it stands with
  Presence presence(const Form& form) const;
  bool is_destination() const { return name == 'd'; }
};

/// Words of which one fills the slot.
struct Slot {
  std::vector<Modifier> modifiers;
  std::vector<Type> types;
  bool optional = false;
  uint32_t optional_before = 0;  ///< optional in modules of earlier PTX ISA versions, times ten
  bool may_stay_empty(uint32_t version) const { return optional || (version != 0 && version < optional_before); }
};

/// A row of isa.def, taken apart.
struct Row {
  std::string_view opcode;
  uint16_t index = 0;         ///< place in isa.def, which the lowering's own table follows
  uint8_t version = 0;        ///< PTX ISA version that introduced it, times ten
  uint8_t target = 0;         ///< least sm_NN
  std::string_view pattern;   ///< as in isa.def, for documents
  std::string_view operands;  ///< likewise
  std::string_view lowering;  ///< name of the function in ptx/lower; "unsupported" where there is none
  std::vector<Slot> slots;
  std::vector<OperandSpec> specs;
  bool any_words = false;     ///< a slot `*`: whatever else follows; only of refused instructions
  bool any_operands = false;  ///< likewise
};

/// All rows in the order of isa.def. Built at the first use, never destroyed.
std::span<const Row> rows();

/// One spelling of an instruction, "ld.global.v4.f32", understood. Shared by all instructions with that spelling.
struct Form {
  std::string text;
  const Row* row = nullptr;
  std::vector<Modifier> modifiers;  ///< in the order of the text, types left out
  std::vector<Type> types;          ///< in the order of the text
  std::bitset<static_cast<size_t>(Modifier::Count)> present;

  bool has(Modifier modifier) const { return present[static_cast<size_t>(modifier)]; }
  /// The first of the given modifiers that the form has.
  template <typename... M>
  std::optional<Modifier> any(M... of) const {
    for (const Modifier modifier : {of...})
      if (has(modifier)) return modifier;
    return std::nullopt;
  }
  Type type() const { return types.empty() ? Type::B32 : types.back(); }
  /// 1, 2, 4 or 8.
  unsigned vector() const { return has(Modifier::V8) ? 8 : has(Modifier::V4) ? 4 : has(Modifier::V2) ? 2 : 1; }
  /// The state space that the form names (.shared::cta is Shared); Generic where it names none.
  Space space() const;
  /// The type that an operand of this form has; `of_register` is what TypeRule::Any stands for.
  Type operand_type(const OperandSpec& spec, Type of_register) const;
};

/// The forms of one module: understands each spelling once. Not thread-safe; pointers stay valid for its life.
class FormTable {
 public:
  /// Error: InvalidPtx that says which word does not belong. `operands`: how many the instruction has, which tells rows
  /// of one opcode apart.
  Result<const Form*> understand(std::string_view text, size_t operands);

  /// What the module says, before its first instruction; 0, at first: it does not.
  void set_version(uint32_t version) { version_ = version; }

 private:
  uint32_t version_ = 0;
  std::deque<Form> forms_;
  std::unordered_map<std::string, const Form*> by_text_;  ///< key: text and operand count
};

}  // namespace cupola::ptx
