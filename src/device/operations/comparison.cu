#include "operation.h"

// Comparisons, truth and classes: 1 or 0 in the type of the arguments. Whatever is not 0 is true, NaN too.

namespace cupola::device::operations {

#define QUESTION(name, shape, parameters, answer) \
  template <typename T>                           \
  LOCAL T name parameters {                       \
    return (answer) ? (T)1 : (T)0;                \
  }                                               \
  NUMBERS(name, shape)
QUESTION(greater, XY, (T x, T y), x > y)
QUESTION(greater_equal, XY, (T x, T y), x >= y)
QUESTION(less, XY, (T x, T y), x < y)
QUESTION(less_equal, XY, (T x, T y), x <= y)
QUESTION(equal, XY, (T x, T y), x == y)
QUESTION(not_equal, XY, (T x, T y), x != y)
QUESTION(logical_and, XY, (T x, T y), x != 0 && y != 0)
QUESTION(logical_or, XY, (T x, T y), x != 0 || y != 0)
QUESTION(logical_not, X, (T x), x == 0)
QUESTION(logical_xor, XY, (T x, T y), (x != 0) != (y != 0))
#undef QUESTION

template <typename T>
LOCAL T isnan(T x) {
  return is_nan(x) ? (T)1 : (T)0;
}
FLOATS(isnan, X)

template <typename T>
LOCAL T isinf(T x) {
  return math::isinf(x) ? (T)1 : (T)0;
}
FLOATS(isinf, X)

template <typename T>
LOCAL T isfinite(T x) {
  return is_finite(x) ? (T)1 : (T)0;
}
FLOATS(isfinite, X)

template <typename T>
LOCAL T heaviside(T x, T y) {
  return is_nan(x) ? x : x < 0 ? (T)0 : x > 0 ? (T)1 : y;
}
FLOATS(heaviside, XY)

}  // namespace cupola::device::operations
