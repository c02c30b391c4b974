#include "ptx/syntax/verify.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "ptx/syntax/printer.h"

namespace cupola::ptx {
namespace {

constexpr uint32_t kNewestVersion = 99;  // a minor version more adds instructions, and those are refused by name

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
  Result<> names() const {
    std::unordered_map<std::string_view, bool> defined;
    const auto add = [&](std::string_view name, bool definition, Location at) -> Result<> {
      bool& before = defined[name];
      if (before && definition) return error(at, "'{}' is defined twice", name);
      before |= definition;
      return {};
    };
    for (const Variable& v : m_.variables) TRY(add(v.name, v.linkage != Linkage::Extern, v.location));
    for (const Function& f : m_.functions) TRY(add(f.name, f.has_body, f.location));
    return {};
  }

  Result<> instruction(const Instruction& in) {
    const Row& row = *in.form->row;
    if (m_.version && row.version > m_.version)
      return error(in.location, "'{}' needs PTX ISA {}.{}; the module says .version {}.{}", in.form->text,
                   row.version / 10, row.version % 10, m_.version / 10, m_.version % 10);
    if (target_ && row.target > target_)
      return error(in.location, "'{}' needs sm_{}; the module says .target sm_{}", in.form->text, row.target, target_);
    if (row.opcode == "call") return call(in);
    if (row.any_operands) return {};
    for (size_t i = 0; i < in.operand_count; ++i) TRY(operand(in, row.specs[i], f_->operands_of(in)[i]));
    return {};
  }

  Result<> call(const Instruction& in) {
    const Operand* operands = f_->operands_of(in);
    for (size_t i = 0; i < in.operand_count; ++i)
      if (operands[i].kind == Operand::Kind::Symbol || operands[i].kind == Operand::Kind::Register) return {};
    return error(in.location, "a call wants a function's name or a register with its address");
  }

  std::string shown(const Instruction& in) const { return print(m_, *f_, in); }

  /// A register's type for an instruction of type `wanted`. PTX ISA, "Operand Type Checking Rules".
  static bool fits(Type wanted, Type has, bool relaxed) {
    if (wanted == Type::Pred || has == Type::Pred) return wanted == has;
    if (relaxed) return bits_of(has) >= bits_of(wanted);
    if (bits_of(wanted) < 16) return bits_of(has) >= bits_of(wanted);  // no register is narrower
    if (bits_of(wanted) != bits_of(has)) return false;
    const TypeKind w = kind_of(wanted), h = kind_of(has);
    if (w == TypeKind::Bits || h == TypeKind::Bits || w == h || w == TypeKind::Pair || w == TypeKind::Bytes)
      return true;
    const bool w_integer = is_integer(wanted), h_integer = is_integer(has);
    return (w_integer && h_integer) || (bits_of(wanted) == 16 && h_integer);  // halves sit in .u16 in hand-written text
  }

  Result<> operand(const Instruction& in, const OperandSpec& spec, const Operand& o) {
    using Kind = Operand::Kind;
    switch (spec.kind) {
      case OperandSpec::Kind::Address:
        if (o.kind != Kind::Address) return error(in.location, "'{}': an address in brackets is expected", shown(in));
        return address(in, f_->operands[o.index]);
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
        if (in.form->vector() == 1) return value(in, spec, o);
        return vector(in, spec, o, in.form->vector());
      case OperandSpec::Kind::AnyVector:
        if (o.kind != Kind::Vector) return value(in, spec, o);
        return vector(in, spec, o, o.count);
      case OperandSpec::Kind::Value:
        break;
    }
    if (spec.with_predicate && o.kind == Kind::Pair) {
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

  Result<> vector(const Instruction& in, const OperandSpec& spec, const Operand& o, unsigned count) {
    if (o.kind != Operand::Kind::Vector || o.count != count) {
      const bool whole = o.kind == Operand::Kind::Register && f_->registers[o.index].vector == count;
      if (whole) return {};
      return error(in.location, "'{}': a vector of {} is expected", shown(in), count);
    }
    OperandSpec part = spec;
    if (in.form->row->opcode == "mov" && in.form->vector() == 1) {  // {a, b} are halves of the whole
      const unsigned bits = count ? bits_of(in.form->type()) / count : 0;
      part.rule = TypeRule::Fixed;
      part.fixed = bits == 8 ? Type::B8 : bits == 16 ? Type::B16 : bits == 32 ? Type::B32 : Type::B64;
    }
    for (unsigned i = 0; i < o.count; ++i) TRY(value(in, part, f_->operands[o.index + i]));
    return {};
  }

  Result<> address(const Instruction& in, const Operand& base) {
    using Kind = Operand::Kind;
    if (base.kind == Kind::Register) {
      const Type type = f_->registers[base.index].type;
      if (is_integer(type) && bits_of(type) >= 32) return {};
      return error(in.location, "'{}': an address sits in a 32-bit or 64-bit integer register", shown(in));
    }
    if (base.kind == Kind::Variable || base.kind == Kind::Symbol || base.kind == Kind::Immediate) return {};
    return error(in.location, "'{}': that is not an address", shown(in));
  }

  Result<> value(const Instruction& in, const OperandSpec& spec, const Operand& o) {
    using Kind = Operand::Kind;
    switch (o.kind) {
      case Kind::Register: {
        const Register& reg = f_->registers[o.index];
        const Type wanted = in.form->operand_type(spec, reg.type);
        const bool video = in.form->row->lowering.starts_with("video");
        if (o.negated && wanted != Type::Pred && in.form->row->opcode != "vmad")
          return error(in.location, "'{}': only predicates can be negated", shown(in));
        if (o.is_part() && !video)
          return error(in.location, "'{}': only video instructions take parts of a register", shown(in));
        if (o.is_part() && bits_of(reg.type) == 32 && reg.vector == 1) return {};
        if (reg.vector > 1 && o.component == 0) {
          if (in.form->row->opcode == "mov") return {};
          return error(in.location, "'{}': '{}' is a vector", shown(in), reg.name);
        }
        if (fits(wanted, reg.type, spec.relaxed)) return {};
        return error(in.location, "'{}': '{}' is a .{} register, the operand is .{}", shown(in), reg.name,
                     text_of(reg.type), text_of(wanted));
      }
      case Kind::Sink:
        return {};
      case Kind::Vector:
        if (in.form->row->opcode == "mov") return {};
        break;
      case Kind::Special:
      case Kind::Immediate:
      case Kind::Float32:
      case Kind::Float64:
        if (spec.is_destination())
          return error(in.location, "'{}': the first operand is written; it must be a register", shown(in));
        if (o.kind == Kind::Float32 || o.kind == Kind::Float64) {
          const Type wanted = in.form->operand_type(spec, Type::F32);
          if (wanted == Type::Pred || kind_of(wanted) == TypeKind::Signed || kind_of(wanted) == TypeKind::Unsigned)
            return error(in.location, "'{}': a floating-point constant for a .{} operand", shown(in), text_of(wanted));
        }
        return {};
      case Kind::Variable:
      case Kind::Symbol:
        if (spec.address_of) return {};
        if (o.kind == Kind::Symbol)
          return error(in.location, "'{}': '{}' is not declared", shown(in), m_.names[o.index]);
        break;
      case Kind::Label:
      case Kind::Address:
      case Kind::Pair:
        break;
    }
    return error(in.location, "'{}': an operand of the wrong kind", shown(in));
  }

  const Module& m_;
  const Function* f_ = nullptr;
  unsigned target_ = 0;
};

}  // namespace

Result<> verify(const Module& module) {
  return Verifier(module).run();
}

}  // namespace cupola::ptx
