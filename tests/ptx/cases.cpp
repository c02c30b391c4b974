#include "cases.h"

#include <algorithm>
#include <array>
#include <set>
#include <unordered_set>
#include <utility>

#include "base/format.h"
#include "operands.h"

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

  /// A row's choices, each with one word replaced or put in.
  std::vector<Case> strange() {
    for (const Row& row : ptx::rows()) {
      if (!is_value_row(row)) continue;
      Pairs pairs;
      Choice choice;
      for (const ptx::Slot& slot : row.slots) choice.push_back(slot.optional ? -1 : 0);
      do {
        if (pairs.adds(choice)) mutate(row, choice);
      } while (advance(row, choice));
    }
    return std::move(made_);
  }

 private:
  static constexpr size_t kManyForms = 24;

  void enumerate(const Row& row) {
    Choice first;
    size_t forms = 1;
    for (const ptx::Slot& slot : row.slots) {
      first.push_back(slot.optional ? -1 : 0);
      forms *= static_cast<size_t>(words_in(slot) + (slot.optional ? 1 : 0));
    }
    const bool subset = is_memory_row(row) || (!everything_ && forms > kManyForms);
    std::vector<Choice> choices;
    Choice choice = first;
    do choices.push_back(choice);
    while (advance(row, choice));
    // In counting order each choice would add one pair at a time; scattered ones add many.
    if (subset)
      std::ranges::sort(choices, {}, [](const Choice& c) {
        uint64_t key = 0;
        for (const int word : c) key = mixed(key + static_cast<uint64_t>(word + 2));
        return key;
      });
    Pairs pairs;
    for (const Choice& each : choices) {
      std::vector<Type> types;
      const std::string text = spelled(row, each, types);
      if (refused_.contains(text) || (is_memory_row(row) && too_hinted(row, each))) continue;
      if (subset && !pairs.adds(each) && !census_.contains(text)) continue;
      add(row, text, types);
    }
  }

  void mutate(const Row& row, const Choice& choice) {
    std::vector<Type> types;
    std::vector<std::string> words;
    std::string text = spelled(row, choice, types);
    for (size_t at = 0, dot = 0; dot != std::string::npos; at = dot + 1)
      dot = text.find('.', at), words.push_back(text.substr(at, dot - at));
    static constexpr std::string_view kTypes[] = {"b8",  "b16", "b32",   "b64",    "u8",    "u16",   "u32",
                                                  "u64", "s8",  "s16",   "s32",    "s64",   "f16",   "bf16",
                                                  "f32", "f64", "f16x2", "bf16x2", "u16x2", "s16x2", "pred"};
    static constexpr std::string_view kWords[] = {"ftz", "sat",       "relu", "rn",     "rz",
                                                  "NaN", "satfinite", "cc",   "approx", "wrap"};
    for (size_t i = 1; i < words.size(); ++i) {
      if (!ptx::type_named(words[i])) continue;
      const size_t place =
          static_cast<size_t>(std::count_if(words.begin(), words.begin() + static_cast<ptrdiff_t>(i),
                                            [](const std::string& word) { return ptx::type_named(word).has_value(); }));
      for (const std::string_view type : kTypes) {
        auto changed = words;
        auto changed_types = types;
        changed[i] = type, changed_types[place] = *ptx::type_named(type);
        stranger(row, changed, changed_types);
      }
    }
    size_t before_type = 1;
    while (before_type < words.size() && !ptx::type_named(words[before_type])) ++before_type;
    for (const std::string_view word : kWords) {
      auto changed = words;
      if (std::ranges::find(changed, word) != changed.end()) continue;
      changed.insert(changed.begin() + static_cast<ptrdiff_t>(before_type), std::string(word));
      stranger(row, changed, types);
    }
  }

  void stranger(const Row& row, const std::vector<std::string>& words, const std::vector<Type>& types) {
    std::string text = words[0];
    for (size_t i = 1; i < words.size(); ++i) text += "." + words[i];
    for (size_t operands = 1; operands <= row.specs.size(); ++operands)
      if (table_.understand(text, operands)) return;
    if (!seen_.insert(formatted("{}/{}", text, row.specs.size())).second) return;
    const size_t before = made_.size();
    add_value_cases(row, text, types, made_);
    if (made_.size() > before + 1) made_.resize(before + 1);
  }

  /// Caching hints, scopes and orders don't change values: each is seen alone, with 32-bit scalars.
  static bool too_hinted(const Row& row, const Choice& choice) {
    using enum ptx::Modifier;
    static constexpr ptx::Modifier kPlain[] = {V2,   V4,  V8,  Global, Shared, Local, Noftz, And,  Or,      Xor,
                                               Exch, Cas, Add, Min,    Max,    Inc,   Dec,   Weak, Relaxed, Gpu};
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
    if (const auto form = understood(row, text)) add_memory_cases(*form, made_);
  }

  /// A spelling of the census whose words stand in another order than the row's.
  void spell(const std::string& text) {
    if (seen_.contains(text)) return;
    const std::string_view opcode = std::string_view(text).substr(0, text.find('.'));
    for (const Row& row : ptx::rows()) {
      if (row.opcode != opcode || !(is_value_row(row) || is_memory_row(row))) continue;
      if (const auto form = understood(row, text)) return add(row, text, form->types);
    }
  }

  /// The spelling as one of the row, with the fewest operands; nothing where it is none.
  const ptx::Form* understood(const Row& row, const std::string& text) {
    for (size_t operands = 0; operands <= row.specs.size(); ++operands)
      if (const auto form = table_.understand(text, operands); form && (*form)->row == &row) return *form;
    return nullptr;
  }

  std::unordered_set<std::string> census_, refused_, seen_;
  bool everything_;
  FormTable table_;
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
      ".visible .entry k{}(.param .u64 inputs, .param .u64 outputs, .param .u64 spare, .param .u32 count,\n"
      "  .param .align 16 .b8 constants[16])\n{{\n"
      "  .reg .pred %outside, %skip, %p;\n  .reg .b32 %i, %t, %cc, %count;\n  .reg .b64 %in, %out, %scratch, %m, %g, "
      "%w;\n",
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

std::vector<Case> strange_cases() {
  return Enumeration({}, {}, true).strange();
}

std::string module_text(std::span<const Case* const> cases) {
  std::string text = ".version 8.7\n.target sm_90\n.address_size 64\n.const .align 16 .b8 table[64] = {";
  for (unsigned i = 0; i < 64; ++i) text += formatted("{}{}", i ? ", " : "", constant_byte(i));
  text += "};\n";
  for (size_t i = 0; i < cases.size(); ++i) text += kernel(*cases[i], i);
  return text;
}

}  // namespace cupola::ptxtest
