#include "operation.h"

// Activations. Exponentials are of -|x|, so that nothing overflows and small results keep their digits.

namespace cupola::device::operations {

/// 1 / (1 + e^-x)
template <typename Math, typename T>
LOCAL T sigmoid(T x) {
  const T power = Math::exp(-math::fabs(x));
  return Math::quotient(x < 0 ? power : (T)1, 1 + power);
}
FAST(sigmoid, X)

template <typename Math, typename T>
LOCAL T expit(T x) {
  return sigmoid<Math>(x);
}
FAST(expit, X)

/// log(x / (1 - x)); from 1/4 to 3/4 by the logarithm of 1 + what is more, where 2x - 1 is exact.
template <typename Math, typename T>
LOCAL T logit(T x) {
  if (x > (T)0.25 && x < (T)0.75) return Math::log1p(Math::quotient(2 * x - 1, 1 - x));
  return Math::log(Math::quotient(x, 1 - x));
}
FAST(logit, X)

template <typename T>
LOCAL T relu(T x) {
  return x < 0 ? (T)0 : x;
}
NUMBERS(relu, X)

template <typename T>
LOCAL T leaky_relu(T x, T y) {
  return x < 0 ? y * x : x;
}
FLOATS(leaky_relu, XY)

template <typename T>
LOCAL T prelu(T x, T y) {
  return leaky_relu<T>(x, y);
}
FLOATS(prelu, XY)

template <typename T>
LOCAL T rrelu(T x, T y) {
  return leaky_relu<T>(x, y);
}
FLOATS(rrelu, XY)

template <typename Math, typename T>
LOCAL T elu(T x, T y) {
  return x < 0 ? y * Math::expm1(x) : x;
}
FAST(elu, XY)

template <typename Math, typename T>
LOCAL T selu(T x) {
  return x < 0 ? (T)1.7580993408473768 * Math::expm1(x) : (T)1.0507009873554805 * x;
}
FAST(selu, X)

template <typename Math, typename T>
LOCAL T celu(T x, T y) {
  const T quotient = Math::quotient(x, y);
  return x < 0 && !(math::fabs(quotient) < kNegligible<T>) ? y * Math::expm1(quotient) : x;
}
FAST(celu, XY)

/// x times a factor that goes to 0 on the left, which is 0 where x is -infinity.
template <typename T>
LOCAL T faded(T x, T factor) {
  return factor == 0 ? math::copysign((T)0, x) : x * factor;
}

template <typename T>
LOCAL T gelu(T x) {
  return faded(x, math::normcdf(x));
}
FLOATS(gelu, X)

template <typename Math, typename T>
LOCAL T swish(T x) {
  return faded(x, sigmoid<Math>(x));
}
FAST(swish, X)

/// tanh(log(1 + e^x)) is (e^2x + 2e^x) / (e^2x + 2e^x + 2).
template <typename Math, typename T>
LOCAL T mish(T x) {
  const T power = Math::exp(-math::fabs(x));
  const T left = power * (power + 2), right = 1 + 2 * power;
  return faded(x, x < 0 ? Math::quotient(left, left + 2) : Math::quotient(right, right + 2 * power * power));
}
FAST(mish, X)

/// log(1 + e^x)
template <typename Math, typename T>
LOCAL T softplus(T x) {
  return (x < 0 ? (T)0 : x) + Math::log1p(Math::exp(-math::fabs(x)));
}
FAST(softplus, X)

template <typename T>
LOCAL T softsign(T x) {
  return math::isinf(x) ? math::copysign((T)1, x) : x / (1 + math::fabs(x));
}
FLOATS(softsign, X)

template <typename T>
LOCAL T hard_sigmoid(T x) {
  return within(x / 6 + (T)0.5, (T)0, (T)1);
}
FLOATS(hard_sigmoid, X)

template <typename T>
LOCAL T hard_tanh(T x) {
  return within(x, (T)-1, (T)1);
}
FLOATS(hard_tanh, X)

/// e^-x^2, with what the square lost.
template <typename Math, typename T>
LOCAL T gaussian(T x) {
  const T square = x * x, power = Math::exp(-square);
  return power == 0 ? power : power - power * math::fma(x, x, -square);
}
FAST(gaussian, X)

/// (sqrt(x^2 + 1) - 1)/2 + x
template <typename T>
LOCAL T bent_identity(T x) {
  return math::isinf(x) ? x : x * (x / (math::hypot(x, (T)1) + 1)) / 2 + x;
}
FLOATS(bent_identity, X)

template <typename T>
LOCAL T binary_step(T x) {
  return x >= 0 ? (T)1 : (T)0;
}
NUMBERS(binary_step, X)

template <typename T>
LOCAL T bipolar_step(T x) {
  return x >= 0 ? (T)1 : (T)-1;
}
FLOATS(bipolar_step, X)

// Of a pair: the first one's part.

template <typename Math, typename T>
LOCAL T softmax(T x, T y) {
  return sigmoid<Math>(x - y);
}
FAST(softmax, XY)

template <typename Math, typename T>
LOCAL T log_softmax(T x, T y) {
  return -softplus<Math>(y - x);
}
FAST(log_softmax, XY)

template <typename Math, typename T>
LOCAL T gumbel_softmax(T x, T y, T z) {
  return sigmoid<Math>(Math::quotient(x - y, z));
}
FAST(gumbel_softmax, XYZ)

template <typename T>
LOCAL T sparsemax(T x, T y) {
  return within((x - y + 1) / 2, (T)0, (T)1);
}
FLOATS(sparsemax, XY)

/// log((1 + e^u) / (1 + e^(u - y))), u = yx. From large logarithms, or from 1 + a quotient of sums without
/// cancellation.
LOCAL double softclip_of(double x, double y) {
  const double u = y * x;
  const double above = u > 0 ? u + math::log1p(math::exp(-u)) : math::log1p(math::exp(u));
  const double v = u - y, below = v > 0 ? v + math::log1p(math::exp(-v)) : math::log1p(math::exp(v));
  if (y > 1 && u > 1) return (u > y ? y + math::log1p(math::exp(-u)) - math::log1p(math::exp(-v)) : above - below) / y;
  return math::log1p(-math::expm1(-y) / (math::exp(-u) + math::exp(-y))) / y;
}
template <typename T>
LOCAL T softclip(T x, T y) {
  return (T)softclip_of((double)x, (double)y);
}
FLOATS(softclip, XY)

}  // namespace cupola::device::operations
