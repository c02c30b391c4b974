#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// What PTX instructions and variables are made of: types, state spaces, special registers, modifiers. Each is one
// table.

namespace cupola::ptx {

enum class Type : uint8_t {
#define PTX_TYPE(name, text, bits, kind) name,
#include "ptx/syntax/types.def"
#undef PTX_TYPE
};

enum class TypeKind : uint8_t { Bits, Unsigned, Signed, Float, Predicate, Pair, Bytes, Handle };

/// Without the dot: "u32".
std::string_view text_of(Type type);
unsigned bits_of(Type type);
TypeKind kind_of(Type type);
std::optional<Type> type_named(std::string_view text);
inline bool is_signed(Type type) {
  return kind_of(type) == TypeKind::Signed;
}
inline bool is_float(Type type) {
  return kind_of(type) == TypeKind::Float;
}
inline bool is_integer(Type type) {
  return kind_of(type) == TypeKind::Signed || kind_of(type) == TypeKind::Unsigned || kind_of(type) == TypeKind::Bits;
}

enum class Space : uint8_t {
#define PTX_SPACE(name, text) name,
#include "ptx/syntax/spaces.def"
#undef PTX_SPACE
};
std::string_view text_of(Space space);

enum class Special : uint8_t {
#define PTX_SPECIAL(name, text, type, components, intrinsic) name,
#include "ptx/syntax/special_registers.def"
#undef PTX_SPECIAL
};
std::string_view text_of(Special special);  ///< with the percent sign
Type type_of(Special special);
unsigned components_of(Special special);  ///< 4 where .x .y .z .w follow
std::optional<Special> special_named(std::string_view text);

enum class Modifier : uint16_t {
#define PTX_MODIFIER(name, text) name,
#include "ptx/syntax/modifiers.def"
#undef PTX_MODIFIER
  Count,
};
std::string_view text_of(Modifier modifier);
std::optional<Modifier> modifier_named(std::string_view text);

}  // namespace cupola::ptx
