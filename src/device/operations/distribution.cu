#include "operation.h"

// Probability distributions. Parameters that make none give NaN.

namespace cupola::device::operations {

/// e^(-z^2/2) / (sigma sqrt(2 pi)), with what the square lost.
template <typename Math, typename T>
LOCAL T normal_pdf(T x, T y, T z) {
  const T distance = Math::quotient(x - y, z), square = distance * distance;
  const T power = Math::exp(square * (T)-0.5);
  const T value = power == 0 ? power : power - power * (math::fma(distance, distance, -square) * (T)0.5);
  return z > 0 ? Math::quotient(value * (T)0.398942280401432678, z) : kNan<T>;
}
FAST(normal_pdf, XYZ)

template <typename Math, typename T>
LOCAL T exponential_pdf(T x, T y) {
  const T value = x < 0 ? (T)0 : y * Math::exp(-(y * x));
  return y > 0 ? value : kNan<T>;
}
FAST(exponential_pdf, XY)

template <typename Math, typename T>
LOCAL T exponential_cdf(T x, T y) {
  const T value = x < 0 ? (T)0 : -Math::expm1(-(y * x));
  return y > 0 ? value : kNan<T>;
}
FAST(exponential_cdf, XY)

template <typename T>
LOCAL T uniform_pdf(T x, T y, T z) {
  if (!(y < z) || is_nan(x)) return kNan<T>;
  return x < y || x > z ? (T)0 : 1 / (z - y);
}
FLOATS(uniform_pdf, XYZ)

template <typename T>
LOCAL T uniform_cdf(T x, T y, T z) {
  if (!(y < z) || is_nan(x)) return kNan<T>;
  return x <= y ? (T)0 : x >= z ? (T)1 : (x - y) / (z - y);
}
FLOATS(uniform_cdf, XYZ)

}  // namespace cupola::device::operations
