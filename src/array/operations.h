#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cupola::array {

/// What an element of an array is. The numbers are part of serialised expressions and of cupola/pipeline.h.
enum class ElementType : uint8_t { F32, F64, I32, I64, U32 };
inline constexpr size_t kElementTypes = 5;

/// As the device library's functions and Python have it: "f32".
const char* name_of(ElementType type);
size_t bytes_of(ElementType type);

/// Sets of element types, a bit each.
using ElementTypes = uint32_t;
constexpr ElementTypes only(ElementType type) {
  return 1u << static_cast<uint32_t>(type);
}
inline constexpr ElementTypes kFloats = only(ElementType::F32) | only(ElementType::F64);
inline constexpr ElementTypes kIntegers = only(ElementType::I32) | only(ElementType::I64) | only(ElementType::U32);
inline constexpr ElementTypes kNumbers = kFloats | kIntegers;

/// How near floating-point results are to the exact value.
enum class Accuracy : uint8_t {
  Exact,  ///< each step of the formula is rounded to the element type, once
  Ulps,   ///< within so many units in the last place of the result
  Terms,  ///< within so many units in the last place of the largest of the terms that the formula adds up, or the
          ///< result
};
struct Bound {
  Accuracy accuracy = Accuracy::Exact;
  double f32 = 0, f64 = 0;
};

/// An operation on elements: one row of ufunc.def.
struct Operation {
  const char* name;
  const char* category;    ///< "activation"
  const char* parameters;  ///< their names: "(x, alpha)"
  ElementTypes types;      ///< of elements; arguments and result are of one
  Bound bound;             ///< of floats; integers are exact
  /// 0: no fast variant. Else, of f32, its bound in 2^-23 of the larger of 1 and the largest term; negative: it is
  /// another function, as exact.
  double fast = 0;
  const char* formula;

  size_t arguments() const;
  bool takes(ElementType type) const { return (types & only(type)) != 0; }
  bool has_fast() const { return fast != 0; }
};

/// All rows, in the table's order.
std::span<const Operation> operations();
/// Null for a name that no row has.
const Operation* find_operation(std::string_view name);

}  // namespace cupola::array
