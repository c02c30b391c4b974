#include "array/operations.h"

#include <algorithm>
#include <iterator>

namespace cupola::array {
namespace {

constexpr Bound exact() {
  return {};
}
constexpr Bound ulps(double f32, double f64) {
  return {Accuracy::Ulps, f32, f64};
}
constexpr Bound terms(double f32, double f64) {
  return {Accuracy::Terms, f32, f64};
}
constexpr double fast(double bound) {
  return bound;
}
constexpr double kNoFast = 0, kOtherFast = -1;

constexpr Operation kOperations[] = {
#define UFUNC(name, category, parameters, types, bound, fast_bound, formula) \
  {#name, category, #parameters, types, bound, fast_bound, formula},
#include "array/ufunc.def"
#undef UFUNC
};

struct TypeRow {
  const char* name;
  size_t bytes;
};
constexpr TypeRow kTypes[kElementTypes] = {{"f32", 4}, {"f64", 8}, {"i32", 4}, {"i64", 8}, {"u32", 4}};

}  // namespace

const char* name_of(ElementType type) {
  return kTypes[static_cast<size_t>(type)].name;
}
size_t bytes_of(ElementType type) {
  return kTypes[static_cast<size_t>(type)].bytes;
}

size_t Operation::arguments() const {
  return 1 + static_cast<size_t>(std::ranges::count(std::string_view(parameters), ','));
}

std::span<const Operation> operations() {
  return kOperations;
}

const Operation* find_operation(std::string_view name) {
  const auto* row =
      std::ranges::find(kOperations, name, [](const Operation& each) { return std::string_view(each.name); });
  return row == std::end(kOperations) ? nullptr : row;
}

}  // namespace cupola::array
