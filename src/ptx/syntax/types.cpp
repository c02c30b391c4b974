#include "ptx/syntax/types.h"

#include <iterator>
#include <unordered_map>

namespace cupola::ptx {
namespace {

struct TypeRow {
  std::string_view text;
  uint8_t bits;
  TypeKind kind;
};
constexpr TypeRow kTypes[] = {
#define PTX_TYPE(name, text, bits, kind) {text, bits, TypeKind::kind},
#include "ptx/syntax/types.def"
#undef PTX_TYPE
};

constexpr std::string_view kSpaces[] = {
#define PTX_SPACE(name, text) text,
#include "ptx/syntax/spaces.def"
#undef PTX_SPACE
};

struct SpecialRow {
  std::string_view text;
  Type type;
  uint8_t components;
};
constexpr SpecialRow kSpecials[] = {
#define PTX_SPECIAL(name, text, type, components, intrinsic) {text, Type::type, components},
#include "ptx/syntax/special_registers.def"
#undef PTX_SPECIAL
};

constexpr std::string_view kModifiers[] = {
#define PTX_MODIFIER(name, text) text,
#include "ptx/syntax/modifiers.def"
#undef PTX_MODIFIER
};

/// From the rows' texts to their numbers; leaked, because parsers may run after static destructors.
template <typename Enum, typename Rows, typename TextOf>
std::optional<Enum> find(const Rows& rows, TextOf text_of_row, std::string_view text) {
  static const auto& map = *[&] {
    auto* made = new std::unordered_map<std::string_view, Enum>;
    for (size_t i = 0; i < std::size(rows); ++i) made->emplace(text_of_row(rows[i]), static_cast<Enum>(i));
    return made;
  }();
  const auto found = map.find(text);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view text_of(Type type) {
  return kTypes[static_cast<size_t>(type)].text;
}
unsigned bits_of(Type type) {
  return kTypes[static_cast<size_t>(type)].bits;
}
TypeKind kind_of(Type type) {
  return kTypes[static_cast<size_t>(type)].kind;
}
std::optional<Type> type_named(std::string_view text) {
  return find<Type>(kTypes, [](const TypeRow& row) { return row.text; }, text);
}

std::string_view text_of(Space space) {
  return kSpaces[static_cast<size_t>(space)];
}

std::string_view text_of(Special special) {
  return kSpecials[static_cast<size_t>(special)].text;
}
Type type_of(Special special) {
  return kSpecials[static_cast<size_t>(special)].type;
}
unsigned components_of(Special special) {
  return kSpecials[static_cast<size_t>(special)].components;
}
std::optional<Special> special_named(std::string_view text) {
  return find<Special>(kSpecials, [](const SpecialRow& row) { return row.text; }, text);
}

std::string_view text_of(Modifier modifier) {
  return kModifiers[static_cast<size_t>(modifier)];
}
std::optional<Modifier> modifier_named(std::string_view text) {
  return find<Modifier>(kModifiers, [](std::string_view row) { return row; }, text);
}

}  // namespace cupola::ptx
