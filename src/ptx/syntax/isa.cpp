#include "ptx/syntax/isa.h"

#include <algorithm>
#include <cassert>

#include "base/format.h"

namespace cupola::ptx {
namespace {

/// Sets of words that many rows share.
struct Set {
  std::string_view name;
  std::string_view words;
};
constexpr Set kSets[] = {
    {"rnd", "rn|rz|rm|rp"},
    {"irnd", "rni|rzi|rmi|rpi"},
    {"space", "const|global|local|param|param::entry|param::func|shared|shared::cta|shared::cluster"},
    {"shared", "shared|shared::cta|shared::cluster"},
    {"scope", "cta|cluster|gpu|sys"},
    {"strong", "global|shared|shared::cta|shared::cluster"},
    {"writable", "global|local|param|param::func|shared|shared::cta|shared::cluster"},
    {"ldcop", "ca|cg|cs|lu|cv"},
    {"stcop", "wb|cg|cs|wt"},
    {"evict", "L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate"},
    {"evict2", "L2::evict_normal|L2::evict_first|L2::evict_last|L2::evict_unchanged"},
    {"hint", "L2::cache_hint"},
    {"fetch", "L2::64B|L2::128B|L2::256B"},
    {"vec", "v2|v4"},
    {"mem", "b8|b16|b32|b64|b128|u8|u16|u32|u64|s8|s16|s32|s64|f32|f64"},
    {"icmp", "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"},
    {"scmp", "eq|ne|lt|le|gt|ge"},
    {"fcmp", "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"},
    {"bool", "and|or|xor"},
    {"int", "u16|u32|u64|s16|s32|s64"},
    {"int8", "u8|u16|u32|u64|s8|s16|s32|s64"},
};

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find(at);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

void add_words(Slot& slot, std::string_view words) {
  for (const std::string_view word : split(words, '|')) {
    if (word.front() == '@') {
      for (const Set& set : kSets)
        if (set.name == word.substr(1)) add_words(slot, set.words);
    } else if (const auto type = type_named(word)) {
      slot.types.push_back(*type);
    } else if (const auto modifier = modifier_named(word)) {
      slot.modifiers.push_back(*modifier);
    } else {
      assert(false && "isa.def names a word that is in neither types.def nor modifiers.def");
    }
  }
}

Slot slot_of(std::string_view text) {
  Slot slot;
  const size_t mark = text.find('?');
  if (mark != std::string_view::npos) {
    slot.optional = mark + 1 == text.size();
    for (const char digit : text.substr(mark + 1))
      slot.optional_before = slot.optional_before * 10 + static_cast<uint32_t>(digit - '0');
    text = text.substr(0, mark);
  }
  add_words(slot, text);
  return slot;
}

void set_rule(OperandSpec& spec, std::string_view rule) {
  if (rule == "0")
    spec.rule = TypeRule::First;
  else if (rule == "1")
    spec.rule = TypeRule::Second;
  else if (rule == "2")
    spec.rule = TypeRule::Third;
  else if (rule == "w")
    spec.rule = TypeRule::Wide;
  else if (rule == "b")
    spec.rule = TypeRule::Bits;
  else if (rule == "any")
    spec.rule = TypeRule::Any;
  else {
    spec.rule = TypeRule::Fixed;
    const auto type = type_named(rule);
    assert(type && "isa.def gives an operand an unknown type");
    spec.fixed = type.value_or(Type::B32);
  }
}

/// "[a]?", "{d*}:f32", "d~:0", "d/p", "#b:u32", "c:pred?@bool": brackets round the name, then marks, then the type,
/// then when it stands.
OperandSpec spec_of(std::string_view text) {
  OperandSpec spec;
  if (text.ends_with('?')) {
    spec.optional = true;
    text.remove_suffix(1);
  }
  if (const size_t mark = text.find('?'); mark != std::string_view::npos) {
    spec.with = slot_of(text.substr(mark + 1)).modifiers;
    text = text.substr(0, mark);
  }
  if (const size_t colon = text.find(':'); colon != std::string_view::npos) {
    set_rule(spec, text.substr(colon + 1));
    text = text.substr(0, colon);
  }
  if (text.front() == '[')
    spec.kind = OperandSpec::Kind::Address;
  else if (text.front() == '{')
    spec.kind = text.contains('*') ? OperandSpec::Kind::AnyVector : OperandSpec::Kind::Vector;
  else if (text.front() == '#')
    spec.kind = OperandSpec::Kind::Constant;
  else if (text.front() == '@')
    spec.kind = OperandSpec::Kind::Label;
  spec.relaxed = text.contains('~');
  spec.address_of = text.contains('+');
  spec.with_predicate = text.contains("/p");
  const size_t name = text.find_first_of("abcdefghijklmnopqrstuvwxyz");
  spec.name = name == std::string_view::npos ? 'a' : text[name];
  return spec;
}

struct RawRow {
  std::string_view opcode;
  uint8_t version, target;
  std::string_view pattern, operands, lowering;
};
constexpr RawRow kRawRows[] = {
#define PTX(opcode, version, target, pattern, operands, lowering) \
  {#opcode, version, target, pattern, operands, #lowering},
#include "ptx/syntax/isa.def"
#undef PTX
};

std::vector<Row> take_apart() {
  std::vector<Row> made;
  for (const RawRow& raw : kRawRows) {
    Row row{raw.opcode,
            static_cast<uint16_t>(made.size()),
            raw.version,
            raw.target,
            raw.pattern,
            raw.operands,
            raw.lowering,
            {},
            {},
            false,
            raw.operands == "*"};
    for (const std::string_view slot : split(raw.pattern, ' '))
      slot == "*" ? void(row.any_words = true) : row.slots.push_back(slot_of(slot));
    if (!row.any_operands)
      for (const std::string_view operand : split(raw.operands, ' ')) row.specs.push_back(spec_of(operand));
    made.push_back(std::move(row));
  }
  return made;
}

/// Rows by opcode.
const std::vector<const Row*>* rows_of(std::string_view opcode) {
  static const auto& map = *[] {
    auto* made = new std::unordered_map<std::string_view, std::vector<const Row*>>;
    for (const Row& row : rows()) (*made)[row.opcode].push_back(&row);
    return made;
  }();
  const auto found = map.find(opcode);
  return found == map.end() ? nullptr : &found->second;
}

template <typename Word>
bool contains(const std::vector<Word>& words, Word word) {
  for (const Word each : words)
    if (each == word) return true;
  return false;
}

/// Why a spelling is not of a row.
struct Mismatch {
  size_t word = 0;             ///< the first word without a slot; the count of the words where a slot stays empty
  const Slot* slot = nullptr;  ///< the slot that stays empty
  size_t taken = 0;            ///< how many words have a slot
};

bool is_space(Modifier modifier) {
  using enum Modifier;
  constexpr Modifier kSpaces[] = {Const, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCta, SharedCluster};
  return std::ranges::find(kSpaces, modifier) != std::end(kSpaces);
}

/// Whether words of the slot say of which operand they are, as the given word does: types, state spaces.
bool is_of_kind(const Slot& slot, std::optional<Type> type, std::optional<Modifier> modifier) {
  if (type) return !slot.types.empty();
  return modifier && is_space(*modifier) && std::ranges::any_of(slot.modifiers, is_space);
}

/// The slot that the word fills, or the count of slots: the first free one that takes it. Types and state spaces say of
/// which operand they are: none passes over a slot for its kind.
size_t slot_for(const Row& row, const std::vector<bool>& filled, std::optional<Type> type,
                std::optional<Modifier> modifier) {
  for (size_t s = 0; s < row.slots.size(); ++s) {
    if (filled[s]) continue;
    const Slot& slot = row.slots[s];
    if ((type && contains(slot.types, *type)) || (modifier && contains(slot.modifiers, *modifier))) return s;
    if (is_of_kind(slot, type, modifier) && !slot.optional) break;
  }
  return row.slots.size();
}

/// Fills the row's slots with the words; nothing when all fits.
std::optional<Mismatch> mismatch(const Row& row, uint32_t version, std::span<const std::string_view> words,
                                 Form& form) {
  std::vector<bool> filled(row.slots.size());
  std::optional<size_t> stranger;
  size_t taken = 0;
  for (size_t i = 0; i < words.size(); ++i) {
    const auto type = type_named(words[i]);
    const auto modifier = modifier_named(words[i]);
    const size_t s = slot_for(row, filled, type, modifier);
    if (s == row.slots.size()) {
      if (!row.any_words && !stranger) stranger = i;
      continue;
    }
    filled[s] = true;
    ++taken;
    if (modifier && contains(row.slots[s].modifiers, *modifier)) {
      form.modifiers.push_back(*modifier);
      form.present.set(static_cast<size_t>(*modifier));
    } else {
      form.types.push_back(*type);
    }
  }
  if (stranger) return Mismatch{.word = *stranger, .taken = taken};
  for (size_t s = 0; s < row.slots.size(); ++s)
    if (!filled[s] && !row.slots[s].may_stay_empty(version))
      return Mismatch{.word = words.size(), .slot = &row.slots[s], .taken = taken};
  return std::nullopt;
}

/// Whether the types among the words are those of the row, whatever the other words.
bool takes_types(const Row& row, std::span<const std::string_view> words) {
  std::vector<bool> filled(row.slots.size());
  for (const std::string_view word : words) {
    const auto type = type_named(word);
    if (!type) continue;
    const size_t s = slot_for(row, filled, type, std::nullopt);
    if (s == row.slots.size()) return false;
    filled[s] = true;
  }
  for (size_t s = 0; s < row.slots.size(); ++s)
    if (!filled[s] && !row.slots[s].types.empty() && !row.slots[s].optional) return false;
  return true;
}

/// Whether the form has as many operands as that. One that stands with certain words only comes behind all that always
/// stand.
bool takes(const Form& form, size_t operands) {
  const Row& row = *form.row;
  if (row.opcode == "call" || row.any_operands) return true;
  size_t least = 0, most = 0;
  for (const OperandSpec& spec : row.specs) {
    const OperandSpec::Presence presence = spec.presence(form);
    least += presence == OperandSpec::Presence::Required;
    most += presence != OperandSpec::Presence::Absent;
  }
  return operands >= least && operands <= most;
}

/// "'d a b', or 'd a b c'": what the rows take, each said once.
std::string operand_counts(const std::vector<const Row*>& fitting) {
  std::string text;
  for (size_t i = 0; i < fitting.size(); ++i) {
    const std::string_view operands = fitting[i]->operands;
    if (std::any_of(fitting.begin(), fitting.begin() + static_cast<std::ptrdiff_t>(i),
                    [&](const Row* before) { return before->operands == operands; }))
      continue;
    text += (text.empty() ? "'" : ", or '") + std::string(operands) + "'";
  }
  return text;
}

std::string words_of(const Slot& slot) {
  std::string text;
  const auto add = [&](std::string_view word) { text += (text.empty() ? "." : "|.") + std::string(word); };
  for (const Modifier modifier : slot.modifiers) add(text_of(modifier));
  for (const Type type : slot.types) add(text_of(type));
  return text;
}

/// "setp .eq|.ne [.and|.or|.xor] .b16|.b32|.b64"
std::string shown(const Row& row) {
  std::string text(row.opcode);
  for (const Slot& slot : row.slots) text += slot.optional ? " [" + words_of(slot) + "]" : " " + words_of(slot);
  return text;
}

/// Why the words are of none of the rows, to stand behind the spelling: what is wrong with the row that has these types
/// and takes the most words.
std::string misfit(const std::vector<const Row*>& candidates, uint32_t version,
                   std::span<const std::string_view> words) {
  Mismatch closest;
  const Row* nearest = nullptr;
  bool has_types = false;
  for (const Row* row : candidates) {
    Form unused;
    const auto bad = mismatch(*row, version, words, unused);
    const bool has = !row->any_words && takes_types(*row, words);
    if (!bad || (nearest && std::pair(has, bad->taken) <= std::pair(has_types, closest.taken))) continue;
    closest = *bad, nearest = row, has_types = has;
  }
  if (closest.slot) {
    const bool single = closest.slot->modifiers.size() + closest.slot->types.size() == 1;
    return (single ? " lacks " : " lacks one of ") + words_of(*closest.slot);
  }
  const std::string_view word = words[closest.word];
  if (!type_named(word) && !modifier_named(word)) return formatted(": '.{}' does not fit there", word);
  if (!has_types) return formatted(": no form of '{}' has these types", nearest->opcode);
  return formatted(": '.{}' does not fit there; the nearest form is '{}'", word, shown(*nearest));
}

}  // namespace

std::span<const Row> rows() {
  static const auto& made = *new std::vector<Row>(take_apart());
  return made;
}

OperandSpec::Presence OperandSpec::presence(const Form& form) const {
  const auto has = [&](Modifier modifier) { return form.has(modifier); };
  if (with.empty()) return optional ? Presence::Allowed : Presence::Required;
  if (std::ranges::any_of(with, has)) return Presence::Required;
  return optional ? Presence::Allowed : Presence::Absent;
}

Space Form::space() const {
  using enum Modifier;
  if (any(Shared, SharedCta, SharedCluster)) return Space::Shared;
  if (has(Global)) return Space::Global;
  if (any(Param, ParamEntry, ParamFunc)) return Space::Param;
  if (has(Local)) return Space::Local;
  if (has(Const)) return Space::Const;
  return Space::Generic;
}

Type Form::operand_type(const OperandSpec& spec, Type of_register) const {
  const auto untyped = [](unsigned bits) {
    return bits == 8     ? Type::B8
           : bits == 16  ? Type::B16
           : bits == 64  ? Type::B64
           : bits == 128 ? Type::B128
                         : Type::B32;
  };
  switch (spec.rule) {
    case TypeRule::Last:
      return type();
    case TypeRule::First:
      return types.empty() ? type() : types[0];
    case TypeRule::Second:
      return types.size() > 1 ? types[1] : type();
    case TypeRule::Third:
      return types.size() > 2 ? types[2] : type();
    case TypeRule::Wide:
      if (is_signed(type())) return bits_of(type()) == 16 ? Type::S32 : Type::S64;
      if (kind_of(type()) == TypeKind::Unsigned) return bits_of(type()) == 16 ? Type::U32 : Type::U64;
      return untyped(bits_of(type()) * 2);
    case TypeRule::Fixed:
      return spec.fixed;
    case TypeRule::Bits:
      return untyped(bits_of(type()));
    case TypeRule::Any:
      return of_register;
  }
  return type();
}

Result<const Form*> FormTable::understand(std::string_view text, size_t operands) {
  std::string key(text);
  key += '/';
  key += std::to_string(operands);
  if (const auto known = by_text_.find(key); known != by_text_.end()) return known->second;

  const std::vector<std::string_view> words = split(text, '.');
  if (words.empty()) return fail(ErrorCode::InvalidPtx, "an instruction is expected");
  const auto* candidates = rows_of(words[0]);
  if (!candidates) return fail(ErrorCode::InvalidPtx, "'{}' is not an instruction of PTX that Cupola knows", words[0]);
  const std::span<const std::string_view> modifiers(words.data() + 1, words.size() - 1);
  std::vector<const Row*> fitting;
  for (const Row* row : *candidates) {
    Form form{.text = std::string(text), .row = row, .modifiers = {}, .types = {}, .present = {}};
    if (mismatch(*row, version_, modifiers, form)) continue;
    fitting.push_back(row);
    if (!takes(form, operands)) continue;
    forms_.push_back(std::move(form));
    by_text_.emplace(std::move(key), &forms_.back());
    return &forms_.back();
  }
  if (fitting.empty()) return fail(ErrorCode::InvalidPtx, "'{}'{}", text, misfit(*candidates, version_, modifiers));
  return fail(ErrorCode::InvalidPtx, "'{}' does not take {} operands; it takes {}", text, operands,
              operand_counts(fitting));
}

}  // namespace cupola::ptx
