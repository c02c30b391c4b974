#include "operation.h"

// Losses and information.

namespace cupola::device::operations {

/// log(x / y) of positive numbers: near 1 by the difference, which is exact there; where the quotient is out of range
/// by two logarithms.
template <typename Math, typename T>
LOCAL T log_quotient(T x, T y) {
  const T quotient = Math::quotient(x, y);
  if (quotient > (T)0.5 && quotient < 2) return Math::log1p(Math::quotient(x - y, y));
  if (quotient > (T)0x1p-120 && quotient < (T)0x1p120) return Math::log(quotient);
  return Math::log(x) - Math::log(y);
}

template <typename Math, typename T>
LOCAL T rel_entr(T x, T y) {
  if (is_nan(x) || is_nan(y)) return kNan<T>;
  if (x > 0 && y > 0) return x * log_quotient<Math>(x, y);
  return x == 0 && y >= 0 ? (T)0 : kInfinite<T>;
}
FAST(rel_entr, XY)

template <typename Math, typename T>
LOCAL T kl_divergence(T x, T y) {
  if (is_nan(x) || is_nan(y)) return kNan<T>;
  if (x > 0 && y > 0) return x * log_quotient<Math>(x, y) - x + y;
  return x == 0 && y >= 0 ? y : kInfinite<T>;
}
FAST(kl_divergence, XY)

template <typename Math, typename T>
LOCAL T entr(T x) {
  return x > 0 ? -x * Math::log(x) : x == 0 ? (T)0 : is_nan(x) ? x : -kInfinite<T>;
}
FAST(entr, X)

/// x times the logarithm of y, 0 for x = 0.
template <typename T>
LOCAL T weighted(T x, T logarithm, T y) {
  return x == 0 && !is_nan(y) ? (T)0 : x * logarithm;
}

template <typename Math, typename T>
LOCAL T cross_entropy(T x, T y) {
  return -weighted(x, Math::log(y), y);
}
FAST(cross_entropy, XY)

template <typename Math, typename T>
LOCAL T binary_cross_entropy(T x, T y) {
  return -(weighted(x, Math::log(y), y) + weighted(1 - x, Math::log1p(-y), y));
}
FAST(binary_cross_entropy, XY)

template <typename T>
LOCAL T huber_loss(T x, T y, T z) {
  const T error = math::fabs(x - y);
  return error <= z ? (T)0.5 * error * error : z * (error - (T)0.5 * z);
}
FLOATS(huber_loss, XYZ)

template <typename T>
LOCAL T hinge_loss(T x, T y) {
  const T margin = 1 - x * y;
  return margin < 0 ? (T)0 : margin;
}
FLOATS(hinge_loss, XY)

template <typename T>
LOCAL T squared_hinge(T x, T y) {
  const T loss = hinge_loss<T>(x, y);
  return loss * loss;
}
FLOATS(squared_hinge, XY)

template <typename T>
LOCAL T l1_loss(T x, T y) {
  return math::fabs(x - y);
}
FLOATS(l1_loss, XY)

template <typename T>
LOCAL T l2_loss(T x, T y) {
  return (x - y) * (x - y);
}
FLOATS(l2_loss, XY)

template <typename T>
LOCAL T smooth_l1(T x, T y) {
  const T error = math::fabs(x - y);
  return error < 1 ? (T)0.5 * error * error : error - (T)0.5;
}
FLOATS(smooth_l1, XY)

/// log(cosh d) = log(1 + 2 sinh(d/2)^2), which loses nothing near 0.
template <typename T>
LOCAL T log_cosh(T x, T y) {
  const T error = math::fabs(x - y);
  if (error > 2) return error - (T)0.693147180559945309 + math::log1p(math::exp(-2 * error));
  const T half = math::sinh(error / 2);
  return math::log1p(2 * half * half);
}
FLOATS(log_cosh, XY)

template <typename T>
LOCAL T quantile_loss(T x, T y, T z) {
  const T error = y - x;
  return error < 0 ? (z - 1) * error : z * error;
}
FLOATS(quantile_loss, XYZ)

template <typename Math, typename T>
LOCAL T poisson_loss(T x, T y) {
  return Math::exp(x) - y * x;
}
FAST(poisson_loss, XY)

}  // namespace cupola::device::operations
