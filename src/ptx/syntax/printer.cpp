#include "ptx/syntax/printer.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cupola::ptx {
namespace {

constexpr std::string_view kComponents[] = {"", "b0", "b1", "b2", "b3", "h0", "h1", "x", "y", "z", "w"};

class Printer {
 public:
  explicit Printer(const Module& module) : m_(module) {}

  std::string module() {
    text("//\n.version ");
    number(m_.version / 10);
    text(".");
    number(m_.version % 10);
    text("\n.target ");
    for (size_t i = 0; i < m_.targets.size(); ++i) {
      if (i) text(", ");
      text(m_.targets[i]);
    }
    text("\n.address_size ");
    number(m_.address_size);
    text("\n\n");
    for (const Item& item : m_.items) this->item(item);
    return std::move(out_);
  }

  std::string only(const Function& function, const Instruction& instruction) {
    f_ = &function;
    this->instruction(instruction);
    return std::move(out_);
  }

 private:
  void text(std::string_view s) { out_ += s; }
  template <typename N>
  void number(N value, int base = 10) {
    std::array<char, 72> digits;
    const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value, base);
    out_.append(digits.data(), end);
  }
  /// Exactly `width` upper-case hexadecimal digits.
  void bits(uint64_t value, int width) {
    for (int shift = 4 * (width - 1); shift >= 0; shift -= 4) out_ += "0123456789ABCDEF"[value >> shift & 15];
  }
  void offset(int64_t value) {
    if (value == 0) return;
    if (value > 0) text("+");
    number(value);
  }

  void item(const Item& item) {
    switch (item.kind) {
      case Item::Kind::Variable:
        variable(m_.variables[item.index], true);
        text(";\n");
        break;
      case Item::Kind::Function:
        function(m_.functions[item.index]);
        break;
      case Item::Kind::File:
        text(".file ");
        number(m_.files[item.index].number);
        text(" \"");
        text(m_.files[item.index].name);
        text("\"\n");
        break;
      case Item::Kind::Section:
        text(".section ");
        text(m_.sections[item.index].name);
        text(" {");
        text(m_.sections[item.index].text);
        text("}\n");
        break;
      case Item::Kind::Alias:
        text(".alias ");
        text(m_.aliases[item.index].name);
        text(", ");
        text(m_.aliases[item.index].target);
        text(";\n");
        break;
      case Item::Kind::Pragma:
        text(".pragma \"");
        text(m_.pragmas[item.index]);
        text("\";\n");
        break;
    }
  }

  void linkage(Linkage linkage) {
    switch (linkage) {
      case Linkage::Internal:
        break;
      case Linkage::Extern:
        text(".extern ");
        break;
      case Linkage::Visible:
        text(".visible ");
        break;
      case Linkage::Weak:
        text(".weak ");
        break;
      case Linkage::Common:
        text(".common ");
        break;
    }
  }

  void initial(const Variable& v, const Initial& value) {
    if (value.symbol == Initial::kNoSymbol) {
      if (v.type == Type::F32 || v.type == Type::F64) {
        text(v.type == Type::F32 ? "0f" : "0d");
        bits(value.bits, v.type == Type::F32 ? 8 : 16);
      } else if (kind_of(v.type) == TypeKind::Unsigned) {
        number(value.bits);
      } else {
        number(static_cast<int64_t>(value.bits));
      }
      return;
    }
    if (value.mask_byte != 0xff) {
      text("0x");
      number(uint64_t{0xff} << (8 * value.mask_byte), 16);
      text("(");
    }
    if (value.generic) text("generic(");
    text(m_.names[value.symbol]);
    if (value.generic) text(")");
    offset(static_cast<int64_t>(value.bits));
    if (value.mask_byte != 0xff) text(")");
  }

  /// The values among the `span` elements from `start` on, which dimension `depth` holds; `next` is the first value
  /// that is not printed yet. Empty braces stand for what lies before the last value of a list.
  void initial_list(const Variable& v, size_t depth, uint64_t start, uint64_t span, size_t& next) {
    const bool innermost = depth == v.dims.size();
    if (innermost && span == 1) return initial(v, v.initial[next++]);
    const uint64_t parts = innermost ? span : v.dims[depth];
    const uint64_t step = parts ? span / parts : 0;
    text("{");
    for (uint64_t i = 0; i < parts && next < v.initial.size() && v.initial[next].element < start + span; ++i) {
      if (i) text(", ");
      if (innermost)
        initial(v, v.initial[next++]);
      else
        initial_list(v, depth + 1, start + i * step, step, next);
    }
    text("}");
  }

  void variable(const Variable& v, bool with_space) {
    linkage(v.linkage);
    text(".");
    text(with_space ? text_of(v.space) : "param");
    if (v.managed) text(" .attribute(.managed)");
    if (v.align && !v.is_pointer) {
      text(" .align ");
      number(v.align);
    }
    if (v.vector > 1) text(v.vector == 2 ? " .v2" : " .v4");
    text(" .");
    text(text_of(v.type));
    if (v.is_pointer) {
      text(" .ptr");
      if (v.pointee != Space::Generic) {
        text(" .");
        text(text_of(v.pointee));
      }
      if (v.pointee_align) {
        text(" .align ");
        number(v.pointee_align);
      }
    }
    text(" ");
    text(v.name);
    if (v.open) text("[]");
    for (const uint64_t dim : v.dims) {
      text("[");
      number(dim);
      text("]");
    }
    if (v.initial.empty()) return;
    text(" = ");
    size_t next = 0;
    initial_list(v, 0, 0, v.elements(), next);
  }

  void parameters(const std::vector<Variable>& list) {
    text("(");
    for (size_t i = 0; i < list.size(); ++i) {
      if (i) text(", ");
      variable(list[i], true);
    }
    text(")");
  }

  void function(const Function& function) {
    f_ = &function;
    linkage(function.linkage);
    text(function.is_kernel ? ".entry " : ".func ");
    if (!function.results.empty()) {
      parameters(function.results);
      text(" ");
    }
    text(function.name);
    if (!function.parameters.empty() || !function.is_kernel) parameters(function.parameters);
    for (const PerformanceBound& bound : function.bounds) {
      text("\n.");
      text(bound.name);
      for (size_t i = 0; i < bound.numbers.size(); ++i) {
        text(i ? ", " : " ");
        number(bound.numbers[i]);
      }
    }
    if (function.noreturn) text("\n.noreturn");
    // Pragmas of the body are among its statements; those before it come first in the list.
    size_t in_body = 0;
    for (const Statement& s : function.body) in_body += s.kind == Statement::Kind::Pragma;
    for (size_t i = 0; i + in_body < function.pragmas.size(); ++i) pragma(function.pragmas[i]);
    if (!function.has_body) {
      text(";\n");
      return;
    }
    text("\n{\n");
    for (const Statement& s : function.body) statement(s);
    text("}\n\n");
  }

  void pragma(std::string_view words) {
    text("\n.pragma \"");
    text(words);
    text("\";\n");
  }

  void statement(const Statement& s) {
    switch (s.kind) {
      case Statement::Kind::Instruction: {
        const Instruction& in = f_->instructions[s.index];
        text("\t");
        if (in.guard >= 0) {
          text(in.guard_negated ? "@!" : "@");
          text(f_->registers[static_cast<size_t>(in.guard)].name);
          text(" ");
        }
        instruction(in);
        text(";\n");
        break;
      }
      case Statement::Kind::Label:
        text(f_->labels[s.index]);
        text(":\n");
        break;
      case Statement::Kind::Registers:
        registers(f_->register_declarations[s.index]);
        break;
      case Statement::Kind::Variable:
        text("\t");
        variable(f_->variables[s.index], true);
        text(";\n");
        break;
      case Statement::Kind::Open:
        text("\t{\n");
        break;
      case Statement::Kind::Close:
        text("\t}\n");
        break;
      case Statement::Kind::Loc:
        loc(f_->sources[s.index]);
        break;
      case Statement::Kind::Pragma:
        pragma(f_->pragmas[s.index]);
        break;
      case Statement::Kind::Prototype:
        prototype(f_->prototypes[s.index]);
        break;
      case Statement::Kind::Targets:
        targets(f_->target_lists[s.index]);
        break;
    }
  }

  void registers(const RegisterDeclaration& declaration) {
    text("\t.reg ");
    if (declaration.vector > 1) text(declaration.vector == 2 ? ".v2 " : ".v4 ");
    text(".");
    text(text_of(declaration.type));
    for (size_t i = 0; i < declaration.names.size(); ++i) {
      text(i ? ", " : " ");
      text(declaration.names[i].name);
      if (declaration.names[i].count) {
        text("<");
        number(declaration.names[i].count);
        text(">");
      }
    }
    text(";\n");
  }

  void loc(const Source& s) {
    text("\t.loc ");
    number(s.file);
    text(" ");
    number(s.line);
    text(" ");
    number(s.column);
    if (!s.function.empty()) {
      text(", function_name ");
      text(s.function);
      if (s.function_offset) {
        text("+");
        number(s.function_offset);
      }
    }
    if (s.inlined_line || s.inlined_file) {
      text(", inlined_at ");
      number(s.inlined_file);
      text(" ");
      number(s.inlined_line);
      text(" ");
      number(s.inlined_column);
    }
    text("\n");
  }

  void prototype(const Prototype& p) {
    text(p.label);
    text(": .callprototype ");
    if (!p.results.empty()) {
      parameters(p.results);
      text(" ");
    }
    text("_ ");
    parameters(p.parameters);
    if (p.noreturn) text(" .noreturn");
    text(";\n");
  }

  void targets(const TargetList& list) {
    text(list.label);
    text(list.calls ? ": .calltargets " : ": .branchtargets ");
    for (size_t i = 0; i < list.targets.size(); ++i) {
      if (i) text(", ");
      text(list.calls ? m_.names[list.targets[i]] : f_->labels[list.targets[i]]);
    }
    text(";\n");
  }

  void instruction(const Instruction& in) {
    text(in.form->text);
    const bool call = in.form->row->opcode == "call";
    for (size_t i = 0; i < in.operand_count; ++i) {
      text(i ? ", " : " ");
      operand(f_->operands_of(in)[i], call);
    }
  }

  void list(const Operand& whole, const char* open, const char* between, const char* close) {
    text(open);
    for (size_t i = 0; i < whole.count; ++i) {
      if (i) text(between);
      operand(f_->operands[whole.index + i], false);
    }
    text(close);
  }

  void operand(const Operand& o, bool of_call) {
    if (o.negated) text(o.kind == Operand::Kind::Register && f_->registers[o.index].type != Type::Pred ? "-" : "!");
    switch (o.kind) {
      case Operand::Kind::Register:
        text(f_->registers[o.index].name);
        if (o.component >= Operand::kHalves) {
          text(o.component == Operand::kHalves ? ".h" : ".b");
          bits(static_cast<uint64_t>(o.value), o.count);
          break;
        }
        if (o.component) {
          text(".");
          text(kComponents[o.component]);
        }
        offset(o.value);
        break;
      case Operand::Kind::Special: {
        const auto special = static_cast<Special>(o.index);
        text(text_of(special));
        if (components_of(special) > 1) {
          out_ += '.';
          out_ += "xyzw"[o.component & 3];
        }
        break;
      }
      case Operand::Kind::Immediate:
        number(o.value);
        break;
      case Operand::Kind::Float32:
        text("0f");
        bits(static_cast<uint64_t>(o.value), 8);
        break;
      case Operand::Kind::Float64:
        text("0d");
        bits(static_cast<uint64_t>(o.value), 16);
        break;
      case Operand::Kind::Variable:
        text(f_->variables[o.index].name);
        offset(o.value);
        break;
      case Operand::Kind::Symbol:
        text(m_.names[o.index]);
        offset(o.value);
        break;
      case Operand::Kind::Label:
        text(f_->labels[o.index]);
        break;
      case Operand::Kind::Address:
        list(o, "[", ", ", "]");
        break;
      case Operand::Kind::Vector:
        list(o, of_call ? "(" : "{", ", ", of_call ? ")" : "}");
        break;
      case Operand::Kind::Pair:
        list(o, "", "|", "");
        break;
      case Operand::Kind::Sink:
        text("_");
        break;
    }
  }

  const Module& m_;
  const Function* f_ = nullptr;
  std::string out_;
};

}  // namespace

std::string print(const Module& module) {
  return Printer(module).module();
}

std::string print(const Module& module, const Function& function, const Instruction& instruction) {
  return Printer(module).only(function, instruction);
}

}  // namespace cupola::ptx
