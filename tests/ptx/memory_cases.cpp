#include <algorithm>

#include "base/format.h"
#include "cases.h"

// Loads, stores and atomic operations. Each thread has memory of its own: 64 bytes of the scratch buffer, of the
// block's shared memory or of its local memory. A case fills it, executes the instruction on it and stores what it read
// and what then lies in memory.

namespace cupola::ptxtest {
namespace {

using ptx::Form;
using ptx::Modifier;
using ptx::Space;
using ptx::Type;

constexpr std::string_view kHeld = "ld st atom red";  // opcodes with rows that are made here

/// The registers %m (address) and %g (the same memory through generic addressing or plain .global).
std::string address_setup(Space space) {
  switch (space) {
    case Space::Shared:
      return formatted(
          "  .shared .align 16 .b8 room[{}];\n  mov.u64 %m, room;\n  mov.u32 %t, %tid.x;\n"
          "  mad.wide.u32 %m, %t, {}, %m;\n  cvta.shared.u64 %g, %m;\n",
          kScratchBytes * kBlock, kScratchBytes);
    case Space::Local:
      return formatted("  .local .align 16 .b8 room[{}];\n  mov.u64 %m, room;\n  cvta.local.u64 %g, %m;\n",
                       kScratchBytes);
    default:
      return formatted("  mad.wide.u32 %m, %i, {}, %scratch;\n  mov.u64 %g, %m;\n", kScratchBytes);
  }
}

/// %m for memory that no kernel writes: the thread's own inputs, and the module's constants (module_text); parameters
/// are named.
std::string constant_address(const Form& form) {
  if (form.has(Modifier::Nc)) return "  mov.u64 %m, %in;\n";
  if (form.space() == Space::Param) return {};
  return "  mov.u64 %m, table;\n  and.b64 %w, %a0, 48;\n  add.u64 %m, %m, %w;\n";
}

/// "{%a0, %a1}" or "%a0"
std::string list_of(char letter, unsigned first, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += formatted("{}%{}{}", i ? ", " : "", letter, first + i);
  return count == 1 ? text : "{" + text + "}";
}

/// What untyped 64-bit words lie in memory is read back through generic addresses.
void read_back(Case& c, unsigned bytes) {
  for (unsigned at = 0; at < bytes; at += 8) {
    c.body += formatted("  ld.b64 %d{}, [%g+{}];\n", c.outputs.size(), at);
    c.outputs.push_back({Type::B64, 64});
  }
}

void fill(Case& c, unsigned bytes, uint64_t with) {
  c.body += formatted("  mov.b64 %w, {};\n", with);
  for (unsigned at = 0; at < bytes; at += 8) c.body += formatted("  st.b64 [%g+{}], %w;\n", at);
}

Case started(const Form& form, std::string variant) {
  Case c;
  c.form = form.text;
  c.name = variant.empty() ? form.text : form.text + " " + variant;
  c.body = address_setup(form.space());
  return c;
}

void add_load(const Form& form, unsigned bits, std::vector<Case>& into) {
  const unsigned count = form.vector(), bytes = count * ptx::bits_of(form.type()) / 8;
  const Space space = form.space();
  const bool constant = form.has(Modifier::Nc) || space == Space::Const || space == Space::Param;
  Case c = started(form, bits > ptx::bits_of(form.type()) ? formatted("in b{}", bits) : "");
  if (constant) c.body = constant_address(form);
  for (unsigned at = 0; at < bytes; at += 8) {
    if (!constant) c.body += formatted("  st.b64 [%g+{}], %a{};\n", at, c.inputs.size());
    c.inputs.push_back({Type::B64, 64});
  }
  const std::string_view address = space == Space::Param ? "constants" : "%m";
  c.body += formatted("  {} {}, [{}];\n", form.text, list_of('d', 0, count), address);
  c.outputs.assign(count, {form.type(), bits});
  into.push_back(std::move(c));
}

void add_store(const Form& form, unsigned bits, std::vector<Case>& into) {
  const unsigned count = form.vector(), bytes = count * ptx::bits_of(form.type()) / 8;
  Case c = started(form, bits > ptx::bits_of(form.type()) ? formatted("in b{}", bits) : "");
  const unsigned around = std::max(bytes, 8U) + 8;  // the bytes behind stay as they are
  fill(c, around, 0xa5a5a5a5a5a5a5a5);
  c.inputs.assign(count, {form.type(), bits});
  c.body += formatted("  {} [%m], {};\n", form.text, list_of('a', 0, count));
  read_back(c, around);
  into.push_back(std::move(c));
}

/// atom and red. The memory's old value is drawn like an operand. `generic`: the memory is in `space` and the address a
/// generic one.
void add_atomic(const Form& form, Space space, bool generic, std::vector<Case>& into) {
  const unsigned count = form.vector(), bits = std::max(ptx::bits_of(form.type()), 16U);
  Case c = started(form, generic ? formatted("in {}", text_of(space)) : "");
  c.body = address_setup(space);
  const Slot slot{form.type(), bits};
  const unsigned operands = form.has(Modifier::Cas) ? 2 : 1;
  c.inputs.assign(count * (1 + operands), slot);
  fill(c, 16, 0x5a5a5a5a5a5a5a5a);
  for (unsigned i = 0; i < count; ++i) c.body += formatted("  st.b{} [%g+{}], %a{};\n", bits, i * bits / 8, i);
  const bool reads = form.row->opcode == "atom";
  if (reads) c.outputs.assign(count, slot);
  c.body += formatted("  {} {}[%{}]", form.text, reads ? list_of('d', 0, count) + ", " : "", generic ? 'g' : 'm');
  for (unsigned i = 0; i < operands; ++i) c.body += ", " + list_of('a', count * (i + 1), count);
  c.body += ";\n";
  for (unsigned i = 0; i < count; ++i) {
    c.body += formatted("  ld.b{} %d{}, [%g+{}];\n", bits, c.outputs.size(), i * bits / 8);
    c.outputs.push_back(slot);
  }
  // Sums follow the arithmetic's rule for NaNs.
  if (ptx::is_float(form.type()) || ptx::kind_of(form.type()) == ptx::TypeKind::Pair) c.comparison = Comparison::AnyNan;
  into.push_back(std::move(c));
}

}  // namespace

bool is_memory_row(const ptx::Row& row) {
  return kHeld.find(row.opcode) != std::string_view::npos && row.lowering != "unsupported" && row.target <= 90;
}

void add_memory_cases(const Form& form, std::vector<Case>& into) {
  using enum Modifier;
  const Space space = form.space();
  const bool constant = space == Space::Const || space == Space::Param;
  if ((constant && form.row->opcode != "ld") || form.any(SharedCluster, ParamFunc)) return;  // other programs
  if (form.any(L2CacheHint, Mmio)) return;  // a policy operand; devices
  const unsigned bits = ptx::bits_of(form.type());
  if (bits * form.vector() > 128 || bits == 128) return;
  if (form.row->opcode == "atom" || form.row->opcode == "red") {
    add_atomic(form, space, false, into);
    if (space == Space::Generic && form.type() == Type::F32 && form.vector() == 1)  // sums there differ
      add_atomic(form, Space::Shared, true, into);
    return;
  }
  const auto add = form.row->opcode == "ld" ? add_load : add_store;
  add(form, std::max(bits, 16U), into);
  if (!ptx::is_integer(form.type()) || form.any(Relaxed, Acquire, Release, Volatile)) return;
  for (const unsigned wider : {32U, 64U})
    if (wider > bits) add(form, wider, into);
}

}  // namespace cupola::ptxtest
