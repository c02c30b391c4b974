#include "cases.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/format.h"

namespace cupola::ptxtest {
namespace {

using ptx::FormTable;
using ptx::Row;
using ptx::Type;
using ptx::TypeKind;

/// A choice of words for a row: an index into each slot's words, or -1 where an optional slot stays empty.
using Choice = std::vector<int>;

int words_in(const ptx::Slot& slot) {
  return static_cast<int>(slot.types.size() + slot.modifiers.size());
}

std::string_view word(const ptx::Slot& slot, int index) {
  const int types = static_cast<int>(slot.types.size());
  return index < types ? text_of(slot.types[static_cast<size_t>(index)])
                       : text_of(slot.modifiers[static_cast<size_t>(index - types)]);
}

/// The next choice in counting order; false behind the last.
bool advance(const Row& row, Choice& choice) {
  for (size_t s = choice.size(); s-- > 0;) {
    if (++choice[s] < words_in(row.slots[s])) return true;
    choice[s] = row.slots[s].optional ? -1 : 0;
  }
  return false;
}

std::string spelled(const Row& row, const Choice& choice, std::vector<Type>& types) {
  std::string text(row.opcode);
  for (size_t s = 0; s < choice.size(); ++s) {
    if (choice[s] < 0) continue;
    const std::string_view chosen = word(row.slots[s], choice[s]);
    if (const auto type = ptx::type_named(chosen)) types.push_back(*type);
    text += formatted(".{}", chosen);
  }
  return text;
}

/// Remembers which pairs of words have met.
class Pairs {
 public:
  bool adds(const Choice& choice) {
    bool fresh = false;
    for (size_t s = 0; s < choice.size(); ++s)
      for (size_t t = s + 1; t < choice.size(); ++t)
        fresh |= met_.insert({s, static_cast<size_t>(choice[s] + 1), t, static_cast<size_t>(choice[t] + 1)}).second;
    return fresh;
  }

 private:
  std::set<std::array<size_t, 4>> met_;
};

class Enumeration {
 public:
  Enumeration(std::span<const std::string> census, std::span<const std::string> refused, bool everything)
      : census_(census.begin(), census.end()), refused_(refused.begin(), refused.end()), everything_(everything) {}

  std::vector<Case> run() {
    for (const Row& row : ptx::rows())
      if (is_value_row(row) || is_memory_row(row)) enumerate(row);
    for (const std::string& text : census_) spell(text);
    add_warp_cases(made_);
    std::erase_if(made_, [&](const Case& c) { return refused_.contains(c.name); });
    return std::move(made_);
  }

  std::vector<Case> one(const std::string& text) {
    spell(text);
    return std::move(made_);
  }

 private:
  static constexpr size_t kManyForms = 96;

  void enumerate(const Row& row) {
    Choice first;
    size_t forms = 1;
    for (const ptx::Slot& slot : row.slots) {
      first.push_back(slot.optional ? -1 : 0);
      forms *= static_cast<size_t>(words_in(slot) + (slot.optional ? 1 : 0));
    }
    const bool subset = is_memory_row(row) || (!everything_ && forms > kManyForms);
    Pairs pairs;
    Choice choice = first;
    do {
      std::vector<Type> types;
      const std::string text = spelled(row, choice, types);
      if (refused_.contains(text) || (is_memory_row(row) && too_hinted(row, choice))) continue;
      if (subset && !pairs.adds(choice) && !census_.contains(text)) continue;
      add(row, text, types);
    } while (advance(row, choice));
  }

  /// Caching hints, scopes and orders don't change values: each is seen alone, with 32-bit scalars.
  static bool too_hinted(const Row& row, const Choice& choice) {
    using enum ptx::Modifier;
    static constexpr ptx::Modifier kPlain[] = {V2, V4, V8, Global, Shared, Local, Noftz, And, Or, Xor,
                                               Exch, Cas, Add, Min, Max, Inc, Dec, Weak, Relaxed, Gpu};
    unsigned hints = 0;
    bool is_word = true;
    for (size_t s = 0; s < choice.size(); ++s) {
      if (choice[s] < 0) continue;
      const int types = static_cast<int>(row.slots[s].types.size());
      if (choice[s] < types) {
        is_word &= bits_of(row.slots[s].types[static_cast<size_t>(choice[s])]) == 32;
        continue;
      }
      const ptx::Modifier chosen = row.slots[s].modifiers[static_cast<size_t>(choice[s] - types)];
      if (chosen == V2 || chosen == V4 || chosen == V8) is_word = false;
      hints += std::ranges::find(kPlain, chosen) == std::end(kPlain);
    }
    return hints > 1 || (hints == 1 && !is_word);
  }

  void add(const Row& row, const std::string& text, const std::vector<Type>& types) {
    if (!seen_.insert(text).second) return;
    if (is_value_row(row)) return add_value_cases(row, text, types, made_);
    add_memory(row, text);
  }

  void add_memory(const Row& row, const std::string& text) {
    for (const ptx::OperandSpec& spec : row.specs)
      if (!spec.optional) ++operands_;
    if (const auto form = table_.understand(text, std::exchange(operands_, 0))) add_memory_cases(**form, made_);
  }

  /// A spelling of the census whose words stand in another order than the row's.
  void spell(const std::string& text) {
    if (seen_.contains(text)) return;
    const std::string_view opcode = std::string_view(text).substr(0, text.find('.'));
    for (const Row& row : ptx::rows()) {
      if (row.opcode != opcode || !(is_value_row(row) || is_memory_row(row))) continue;
      const auto form = table_.understand(text, row.specs.size());
      if (!form || (*form)->row != &row) continue;
      return add(row, text, (*form)->types);
    }
  }

  std::unordered_set<std::string> census_, refused_, seen_;
  bool everything_;
  FormTable table_;
  size_t operands_ = 0;
  std::vector<Case> made_;
};

std::string load(const Slot& slot, size_t i) {
  const std::string at = formatted("[%in+{}]", i * 8);
  if (slot.bits == 1)
    return formatted("  ld.global.b32 %t, {};\n  and.b32 %t, %t, 1;\n  setp.ne.u32 %a{}, %t, 0;\n", at, i);
  return formatted("  ld.global.b{} %a{}, {};\n", slot.bits, i, at);
}

std::string store(const Slot& slot, size_t i) {
  const std::string at = formatted("[%out+{}]", i * 8);
  if (slot.bits == 1) return formatted("  selp.u32 %t, 1, 0, %d{};\n  st.global.b32 {}, %t;\n", i, at);
  return formatted("  st.global.b{} {}, %d{};\n", slot.bits, at, i);
}

std::string kernel(const Case& c, size_t number) {
  std::string text = formatted(
      ".visible .entry k{}(.param .u64 inputs, .param .u64 outputs, .param .u64 spare, .param .u32 count)\n{{\n"
      "  .reg .pred %outside, %skip, %p;\n  .reg .b32 %i, %t, %cc, %count;\n  .reg .b64 %in, %out, %scratch, %m, %g, %w;\n",
      number);
  for (size_t i = 0; i < c.inputs.size(); ++i) text += formatted("  .reg {} %a{};\n", register_type(c.inputs[i]), i);
  for (size_t i = 0; i < c.outputs.size(); ++i) text += formatted("  .reg {} %d{};\n", register_type(c.outputs[i]), i);
  text +=
      "  ld.param.u64 %in, [inputs];\n  ld.param.u64 %out, [outputs];\n  ld.param.u64 %scratch, [spare];\n"
      "  ld.param.u32 %count, [count];\n  mov.u32 %i, %ctaid.x;\n  mov.u32 %t, %ntid.x;\n  mul.lo.u32 %i, %i, %t;\n"
      "  mov.u32 %t, %tid.x;\n  add.u32 %i, %i, %t;\n  setp.ge.u32 %outside, %i, %count;\n  @%outside bra DONE;\n";
  text += formatted("  mad.wide.u32 %in, %i, {}, %in;\n  mad.wide.u32 %out, %i, {}, %out;\n", c.inputs.size() * 8,
                    c.outputs.size() * 8);
  for (size_t i = 0; i < c.inputs.size(); ++i) text += load(c.inputs[i], i);
  text += c.body;
  for (size_t i = 0; i < c.outputs.size(); ++i) text += store(c.outputs[i], i);
  return text + "DONE:\n  ret;\n}\n";
}

}  // namespace

Slot slot_for(Type type) {
  const unsigned bits = bits_of(type);
  if (type == Type::Pred) return {type, 1};
  return {type, bits < 16 ? 32 : bits};
}

std::string register_type(const Slot& slot) {
  return slot.bits == 1 ? ".pred" : formatted(".b{}", slot.bits);
}

std::vector<Case> all_cases(std::span<const std::string> census, std::span<const std::string> refused,
                            bool everything) {
  return Enumeration(census, refused, everything).run();
}

std::vector<Case> cases_of(const std::string& form) {
  return Enumeration({}, {}, false).one(form);
}

std::string module_text(std::span<const Case* const> cases) {
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n";
  for (size_t i = 0; i < cases.size(); ++i) text += kernel(*cases[i], i);
  return text;
}

}  // namespace cupola::ptxtest
