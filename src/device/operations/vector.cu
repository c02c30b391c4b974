#include "operation.h"

// Distances and vectors, of vectors of one element.

namespace cupola::device::operations {

template <typename T>
LOCAL T length(T x) {
  return math::fabs(x);
}
FLOATS(length, X)

#define DISTANCE(name)        \
  template <typename T>       \
  LOCAL T name(T x, T y) {    \
    return math::fabs(x - y); \
  }                           \
  FLOATS(name, XY)
DISTANCE(distance_euclidean)
DISTANCE(distance_manhattan)
DISTANCE(distance_chebyshev)
#undef DISTANCE

template <typename T>
LOCAL T distance_minkowski(T x, T y, T z) {
  return z > 0 ? math::fabs(x - y) : kNan<T>;
}
FLOATS(distance_minkowski, XYZ)

/// 0 has no direction, and stays.
template <typename T>
LOCAL T normalize_vector(T x) {
  return x > 0 ? (T)1 : x < 0 ? (T)-1 : x;
}
FLOATS(normalize_vector, X)

template <typename T>
LOCAL T cosine_similarity(T x, T y) {
  return normalize_vector<T>(x) * normalize_vector<T>(y);
}
FLOATS(cosine_similarity, XY)

template <typename T>
LOCAL T cosine_distance(T x, T y) {
  return 1 - cosine_similarity<T>(x, y);
}
FLOATS(cosine_distance, XY)

}  // namespace cupola::device::operations
