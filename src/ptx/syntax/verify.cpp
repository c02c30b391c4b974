#include "ptx/syntax/verify.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "ptx/syntax/printer.h"

namespace cupola::ptx {
namespace {

constexpr uint32_t kNewestVersion = 99;  // a minor version more adds instructions, and those are refused by name

constexpr int64_t kBarriers = 16;  // of a block
constexpr int64_t kWarp = 32;

/// Instructions of which a whole result may be thrown away with '_'; of all others only a part of one may.
constexpr std::string_view kSinkable[] = {"atom", "elect", "lop3", "mbarrier", "setp"};

/// "sm_90a" to 90; 0 for other words ("debug", "texmode_independent").
unsigned target_number(std::string_view target) {
  if (!target.starts_with("sm_")) return 0;
  unsigned number = 0;
  std::from_chars(target.data() + 3, target.data() + target.size(), number);
  return number;
}

class Verifier {
 public:
  explicit Verifier(const Module& module) : m_(module) {
    for (const std::string_view target : module.targets) target_ = std::max(target_, target_number(target));
  }

  Result<> run() {
    if (m_.version > kNewestVersion)
      return fail(ErrorCode::UnsupportedPtxVersion, "ptx: version {}.{} is newer than 9.9", m_.version / 10,
                  m_.version % 10);
    TRY(names());
    for (const Function& function : m_.functions) {
      f_ = &function;
      for (const Instruction& in : function.instructions) TRY(instruction(in));
    }
    return {};
  }

 private:
  template <typename... Args>
  std::unexpected<Error> error(Location at, fmt::format_string<Args...> text, Args&&... args) const {
    return fail(ErrorCode::InvalidPtx, "ptx: line {}, column {}: {}", at.line, at.column,
                formatted(text, std::forward<Args>(args)...));
  }

  /// A function may be declared often and defined once, a variable likewise.
  Result<> names() {
    for (const Variable& v : m_.variables) variables_.try_emplace(v.name, &v);
    for (const Function& f : m_.functions) functions_.try_emplace(f.name, &f);
    std::unordered_map<std::string_view, bool> defined;
    const auto add = [&](std::string_view name, bool definition, Location at) -> Result<> {
      bool& before = defined[name];
      if (before && definition) return error(at, "'{}' is defined twice", name);
      before |= definition;
      return {};
    };
    for (const Variable& v : m_.variables) {
      TRY(add(v.name, v.linkage != Linkage::Extern, v.location));
      TRY(module_variable(v));
    }
    for (const Function& f : m_.functions) TRY(add(f.name, f.has_body, f.location));
    return {};
  }

  Result<> module_variable(const Variable& v) const {
    if (v.space == Space::Local) return error(v.location, "'{}': .local variables stand in functions", v.name);
    if (v.space != Space::Global && (v.linkage == Linkage::Common || v.managed))
      return error(v.location, "'{}': only .global variables can be {}", v.name, v.managed ? ".managed" : ".common");
    for (const Initial& value : v.initial) {
      if (value.symbol == Initial::kNoSymbol) continue;
      const std::string_view name = m_.names[value.symbol];
      const auto target = variables_.find(name);
      if (target == variables_.end() && !functions_.contains(name))
        return error(v.location, "the initial value of '{}' names '{}', which is not declared", v.name, name);
      if (target != variables_.end() && target->second->space == Space::Shared)
        return error(v.location, "the initial value of '{}' names '{}', which has an address in every block", v.name,
                     name);
    }
    return {};
  }

  Result<> instruction(const Instruction& in) const {
    const Row& row = *in.form->row;
    if (m_.version && row.version > m_.version)
      return error(in.location, "'{}' needs PTX ISA {}.{}; the module says .version {}.{}", in.form->text,
                   row.version / 10, row.version % 10, m_.version / 10, m_.version % 10);
    if (target_ && row.target > target_)
      return error(in.location, "'{}' needs sm_{}; the module says .target sm_{}", in.form->text, row.target, target_);
    if (row.opcode == "call") return call(in);
    if (row.any_operands) return {};
    for (size_t i = 0; i < in.operand_count; ++i) {
      const Operand& o = f_->operands_of(in)[i];
      TRY(sinkable(in, o));
      TRY(operand(in, row.specs[i], o));
    }
    return {};
  }

  Result<> sinkable(const Instruction& in, const Operand& result) const {
    if (result.kind != Operand::Kind::Sink || std::ranges::find(kSinkable, in.form->row->opcode) != std::end(kSinkable))
      return {};
    return error(in.location, "'{}': '_' does not fit there", shown(in));
  }

  /// [(results),] target [, (arguments) [, prototype]]
  Result<> call(const Instruction& in) const {
    std::span<const Operand> top(f_->operands_of(in), in.operand_count);
    const auto list = [&]() -> std::span<const Operand> {
      if (top.empty() || top.front().kind != Operand::Kind::Vector) return {};
      const Operand& whole = top.front();
      top = top.subspan(1);
      return {f_->operands.data() + whole.index, whole.count};
    };
    const auto results = list();
    if (top.empty() || (top.front().kind != Operand::Kind::Symbol && top.front().kind != Operand::Kind::Register))
      return error(in.location, "a call wants a function's name or a register with its address");
    const Operand target = top.front();
    top = top.subspan(1);
    const auto arguments = list();
    if (target.kind == Operand::Kind::Symbol) {
      const auto callee = functions_.find(m_.names[target.index]);
      if (callee == functions_.end()) {
        if (is_fragment()) return {};
        return error(in.location, "'{}': '{}' is not declared", shown(in), m_.names[target.index]);
      }
      return signature(in, callee->second->results, results, callee->second->parameters, arguments);
    }
    if (top.empty() || top.front().kind != Operand::Kind::Symbol) return {};
    const auto prototype = std::ranges::find(f_->prototypes, m_.names[top.front().index], &Prototype::label);
    if (prototype == f_->prototypes.end()) return {};
    return signature(in, prototype->results, results, prototype->parameters, arguments);
  }

  Result<> signature(const Instruction& in, const std::vector<Variable>& results,
                     std::span<const Operand> given_results, const std::vector<Variable>& parameters,
                     std::span<const Operand> given) const {
    if (given_results.size() != results.size() || given.size() != parameters.size())
      return error(in.location, "'{}': the function has {} parameters and {} results", shown(in), parameters.size(),
                   results.size());
    for (size_t i = 0; i < results.size(); ++i) TRY(passes(in, results[i], given_results[i]));
    for (size_t i = 0; i < given.size(); ++i) TRY(passes(in, parameters[i], given[i]));
    return {};
  }

  /// A .param variable or a register of the parameter's type, or of the untyped one of its width.
  Result<> passes(const Instruction& in, const Variable& formal, const Operand& o) const {
    if (formal.open) return {};
    if (o.kind == Operand::Kind::Variable) {
      const Variable& actual = f_->variables[o.index];
      const bool whole = formal.is_array || actual.is_array || formal.vector > 1 || actual.vector > 1;
      if (whole ? formal.bytes() == actual.bytes() : fits(formal.type, actual.type, false)) return {};
      return error(in.location, "'{}': '{}' has {} bytes of .{}, the parameter {} of .{}", shown(in), actual.name,
                   actual.bytes(), text_of(actual.type), formal.bytes(), text_of(formal.type));
    }
    if (o.kind != Operand::Kind::Register || formal.is_array) return {};
    const Register& actual = f_->registers[o.index];
    if (fits(formal.type, actual.type, false)) return {};
    return error(in.location, "'{}': '{}' is a .{} register, the parameter is .{}", shown(in), actual.name,
                 text_of(actual.type), text_of(formal.type));
  }

  std::string shown(const Instruction& in) const { return print(m_, *f_, in); }

  /// A register's type for an instruction of type `wanted`. PTX ISA, "Operand Type Checking Rules"; a relaxed operand
  /// may sit in a wider register.
  static bool fits(Type wanted, Type has, bool relaxed) {
    if (wanted == Type::Pred || has == Type::Pred) return wanted == has;
    const bool narrow = bits_of(wanted) < 16;  // no register is
    const bool sized = relaxed || narrow ? bits_of(has) >= bits_of(wanted) : bits_of(has) == bits_of(wanted);
    if (!sized) return false;
    const TypeKind w = kind_of(wanted), h = kind_of(has);
    if (w == TypeKind::Bits || h == TypeKind::Bits || w == TypeKind::Pair || w == TypeKind::Bytes) return true;
    if (is_integer(wanted)) return is_integer(has);
    return w == h && (narrow || bits_of(wanted) == bits_of(has));
  }

  Result<> operand(const Instruction& in, const OperandSpec& spec, const Operand& o) const {
    using Kind = Operand::Kind;
    switch (spec.kind) {
      case OperandSpec::Kind::Address:
        if (o.kind != Kind::Address) return error(in.location, "'{}': an address in brackets is expected", shown(in));
        return address(in, f_->operands[o.index], space_of(in, spec));
      case OperandSpec::Kind::Constant:
        if (o.kind == Kind::Immediate) return {};
        return error(in.location, "'{}': a constant is expected", shown(in));
      case OperandSpec::Kind::Label:
        if (in.form->row->opcode == "brx") {  // the table, not one of its labels
          if (o.kind == Kind::Symbol && targets_named(m_.names[o.index])) return {};
          return error(in.location, "'{}': the name of a .branchtargets list is expected", shown(in));
        }
        if (o.kind == Kind::Label) return {};
        return error(in.location, "'{}': a label of this function is expected", shown(in));
      case OperandSpec::Kind::Vector:
        if (in.form->vector() > 1) return vector(in, spec, o, in.form->vector());
        // Braces around one element, as nvcc writes it for surfaces.
        return value(in, spec, o.kind == Kind::Vector && o.count == 1 ? f_->operands[o.index] : o);
      case OperandSpec::Kind::AnyVector:
        if (o.kind != Kind::Vector) return value(in, spec, o);
        return vector(in, spec, o, o.count);
      case OperandSpec::Kind::Value:
        break;
    }
    if (spec.with_predicate && o.kind == Kind::Pair) {
      TRY(sinkable(in, f_->operands[o.index]));
      TRY(value(in, spec, f_->operands[o.index]));
      OperandSpec predicate = spec;
      predicate.rule = TypeRule::Fixed;
      predicate.fixed = Type::Pred;
      return value(in, predicate, f_->operands[o.index + 1]);
    }
    return value(in, spec, o);
  }

  bool targets_named(std::string_view name) const {
    return std::ranges::any_of(f_->target_lists, [&](const TargetList& list) { return list.label == name; });
  }

  Result<> vector(const Instruction& in, const OperandSpec& spec, const Operand& o, unsigned count) const {
    if (o.kind != Operand::Kind::Vector || o.count != count) {
      const bool whole = o.kind == Operand::Kind::Register && f_->registers[o.index].vector == count;
      if (whole) return {};
      return error(in.location, "'{}': a vector of {} is expected", shown(in), count);
    }
    OperandSpec part = spec;
    if (in.form->row->opcode == "mov" && in.form->vector() == 1) {  // {a, b} are halves of the whole
      const unsigned whole = bits_of(in.form->type()), bits = count ? whole / count : 0;
      if (bits * count != whole || bits < 8)
        return error(in.location, "'{}': {} bits have no {} equal parts", shown(in), whole, count);
      part.rule = TypeRule::Fixed;
      part.fixed = bits == 8 ? Type::B8 : bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64;
    }
    for (unsigned i = 0; i < o.count; ++i) TRY(value(in, part, f_->operands[o.index + i]));
    return {};
  }

  /// The state space in which an instruction's address lies; cp.async has one of each, others one for all.
  static Space space_of(const Instruction& in, const OperandSpec& spec) {
    if (in.form->row->opcode == "cp" && in.form->has(Modifier::Global))
      return spec.name == 'a' ? Space::Shared : Space::Global;
    return in.form->space();
  }

  /// Whether a variable of space `has` may be named where `wanted` is: a generic address may lie in any space that has
  /// one. PTX ISA, "Generic Addressing".
  static bool reaches(Space wanted, Space has) {
    if (wanted != Space::Generic) return wanted == has;
    return has == Space::Global || has == Space::Shared || has == Space::Local;
  }

  Result<> address(const Instruction& in, const Operand& base, Space wanted) const {
    using Kind = Operand::Kind;
    if (base.kind == Kind::Register) {
      const Type type = f_->registers[base.index].type;
      if (is_integer(type) && bits_of(type) >= 32) return {};
      return error(in.location, "'{}': an address sits in a 32-bit or 64-bit integer register", shown(in));
    }
    if (base.kind == Kind::Variable) {
      if (in.form->row->opcode == "st" && is_input(base.index))
        return error(in.location, "'{}': a function does not write its own parameters", shown(in));
      return lies_in(in, f_->variables[base.index], wanted);
    }
    if (base.kind == Kind::Symbol) {
      const std::string_view name = m_.names[base.index];
      if (const auto known = variables_.find(name); known != variables_.end())
        return lies_in(in, *known->second, wanted);
      if (is_fragment() || functions_.contains(name)) return {};
      return error(in.location, "'{}': '{}' is not declared", shown(in), name);
    }
    if (base.kind == Kind::Immediate) return {};
    return error(in.location, "'{}': that is not an address", shown(in));
  }

  /// The function's results and parameters come first among its variables, but for those in registers.
  bool is_input(uint32_t index) const {
    const auto in_memory = [](const std::vector<Variable>& list) {
      return static_cast<uint32_t>(
          std::ranges::count_if(list, [](const Variable& v) { return v.space != Space::Reg; }));
    };
    const uint32_t results = in_memory(f_->results);
    return index >= results && index < results + in_memory(f_->parameters);
  }

  Result<> lies_in(const Instruction& in, const Variable& variable, Space wanted) const {
    if (reaches(wanted, variable.space) || kind_of(variable.type) == TypeKind::Handle) return {};
    return error(in.location, "'{}': '{}' lies in .{}, the instruction works in {}", shown(in), variable.name,
                 text_of(variable.space), wanted == Space::Generic ? "generic memory" : text_of(wanted));
  }

  Result<> value(const Instruction& in, const OperandSpec& spec, const Operand& o) const {
    using Kind = Operand::Kind;
    if (o.negated) TRY(negation(in, spec, o));
    switch (o.kind) {
      case Kind::Register:
        return register_value(in, spec, o);
      case Kind::Sink:
        if (spec.is_destination()) return {};
        return error(in.location, "'{}': '_' throws a result away; it has no value to read", shown(in));
      case Kind::Vector:
        if (in.form->row->opcode == "mov") return {};
        break;
      case Kind::Special:
        if (!spec.is_destination()) return special(in, static_cast<Special>(o.index));
        [[fallthrough]];
      case Kind::Immediate:
      case Kind::Float32:
      case Kind::Float64:
        if (spec.is_destination())
          return error(in.location, "'{}': the first operand is written; it must be a register", shown(in));
        return literal(in, spec, o);
      case Kind::Variable:
      case Kind::Symbol:
        return symbol(in, spec, o);
      case Kind::Label:
      case Kind::Address:
      case Kind::Pair:
        break;
    }
    return error(in.location, "'{}': an operand of the wrong kind", shown(in));
  }

  Result<> negation(const Instruction& in, const OperandSpec& spec, const Operand& o) const {
    if (spec.is_destination()) return error(in.location, "'{}': a result cannot be negated", shown(in));
    if (o.kind == Operand::Kind::Register) {
      const Type type = f_->registers[o.index].type;
      if (type == Type::Pred || in.form->row->opcode == "vmad") return {};
    }
    return error(in.location, "'{}': only predicates can be negated", shown(in));
  }

  Result<> register_value(const Instruction& in, const OperandSpec& spec, const Operand& o) const {
    const Register& reg = f_->registers[o.index];
    const Type wanted = in.form->operand_type(spec, reg.type);
    const bool video = in.form->row->lowering.starts_with("video");
    if (o.is_part()) {
      if (!video) return error(in.location, "'{}': only video instructions take parts of a register", shown(in));
      if (bits_of(reg.type) == 32 && reg.vector == 1) return {};
    } else if (o.component > Operand::kLastPart) {
      if (o.component - Operand::kLastPart > reg.vector || reg.vector == 1)
        return error(in.location, "'{}': '{}' has {} element(s)", shown(in), reg.name, reg.vector);
    } else if (reg.vector > 1) {
      if (in.form->row->opcode == "mov") return {};
      return error(in.location, "'{}': '{}' is a vector", shown(in), reg.name);
    }
    if (fits(wanted, reg.type, spec.relaxed)) return {};
    return error(in.location, "'{}': '{}' is a .{} register, the operand is .{}", shown(in), reg.name,
                 text_of(reg.type), text_of(wanted));
  }

  /// Special registers are read by mov and cvt; those of 32 bits also as the 16 bits that they once had.
  Result<> special(const Instruction& in, Special special) const {
    const std::string_view opcode = in.form->row->opcode;
    if (opcode == "cvt") return {};
    if (opcode != "mov")
      return error(in.location, "'{}': a special register is read by mov; move {} to a register first", shown(in),
                   text_of(special));
    const Type wanted = in.form->type(), has = type_of(special);
    if (wanted == Type::Pred ? has == Type::Pred
                             : is_integer(wanted) && (bits_of(wanted) == bits_of(has) || bits_of(wanted) == 16))
      return {};
    return error(in.location, "'{}': {} is .{}, the operand is .{}", shown(in), text_of(special), text_of(has),
                 text_of(wanted));
  }

  /// An integer for integers, untyped and predicate operands, a floating-point number for those of 32 and 64 bits. An
  /// untyped operand takes the bits of a number of its own width.
  Result<> literal(const Instruction& in, const OperandSpec& spec, const Operand& o) const {
    if (spec.rule == TypeRule::Any) return {};
    const Type wanted = in.form->operand_type(spec, Type::B32);
    if (o.kind == Operand::Kind::Immediate) {
      if (is_float(wanted) && bits_of(wanted) >= 32)
        return error(in.location, "'{}': an integer for a .{} operand; write it with a point, as 1.0", shown(in),
                     text_of(wanted));
      return barrier_number(in, spec, o.value);
    }
    const bool is_bits = kind_of(wanted) == TypeKind::Bits;
    if ((is_float(wanted) && bits_of(wanted) >= 32) ||
        (is_bits && bits_of(wanted) == (o.kind == Operand::Kind::Float32 ? 32 : 64)))
      return {};
    return error(in.location, "'{}': a floating-point constant{} for a .{} operand", shown(in),
                 is_bits ? " of another width" : "", text_of(wanted));
  }

  /// PTX ISA, "bar, barrier": 16 barriers, and whole warps take part.
  Result<> barrier_number(const Instruction& in, const OperandSpec& spec, int64_t value) const {
    if (!in.form->row->lowering.starts_with("barrier")) return {};
    if (spec.name == 'a' && (value < 0 || value >= kBarriers))
      return error(in.location, "'{}': barrier {} is not one of 0 to {}", shown(in), value, kBarriers - 1);
    if (spec.name == 'b' && (value <= 0 || value % kWarp != 0))
      return error(in.location, "'{}': {} threads are not whole warps of {}", shown(in), value, kWarp);
    return {};
  }

  /// A name that stands for its address.
  Result<> symbol(const Instruction& in, const OperandSpec& spec, const Operand& o) const {
    using Kind = Operand::Kind;
    if (o.kind == Kind::Symbol && !is_fragment()) {
      const std::string_view name = m_.names[o.index];
      const bool known = variables_.contains(name) || functions_.contains(name);
      if (!known) return error(in.location, "'{}': '{}' is not declared", shown(in), name);
    }
    if (!spec.address_of) return error(in.location, "'{}': a name where a value is expected", shown(in));
    const Type wanted = in.form->type();
    if (!is_integer(wanted) || bits_of(wanted) < 32)
      return error(in.location, "'{}': an address is an integer of 32 or 64 bits, the operand is .{}", shown(in),
                   text_of(wanted));
    const Variable* variable = o.kind == Kind::Variable ? &f_->variables[o.index] : nullptr;
    if (o.kind == Kind::Symbol)
      if (const auto known = variables_.find(m_.names[o.index]); known != variables_.end()) variable = known->second;
    if (bits_of(wanted) == 32 && (variable ? variable->space == Space::Global : functions_.contains(m_.names[o.index])))
      return error(in.location, "'{}': an address of global memory has 64 bits", shown(in));
    if (in.form->row->opcode != "cvta") return {};
    if (in.form->has(Modifier::To))
      return error(in.location, "'{}': a name has its address in its own space; give a register with a generic one",
                   shown(in));
    return variable ? lies_in(in, *variable, in.form->space()) : Result<>{};
  }

  /// Inline PTX names what the module around it declares.
  bool is_fragment() const { return m_.version == 0; }

  const Module& m_;
  const Function* f_ = nullptr;
  unsigned target_ = 0;
  std::unordered_map<std::string_view, const Variable*> variables_;
  std::unordered_map<std::string_view, const Function*> functions_;
};

}  // namespace

Result<> verify(const Module& module) {
  return Verifier(module).run();
}

}  // namespace cupola::ptx
