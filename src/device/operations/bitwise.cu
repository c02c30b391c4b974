#include "operation.h"

// Bits of integers.

namespace cupola::device::operations {

template <typename T>
LOCAL T bitwise_and(T x, T y) {
  return x & y;
}
INTEGERS(bitwise_and, XY)

template <typename T>
LOCAL T bitwise_or(T x, T y) {
  return x | y;
}
INTEGERS(bitwise_or, XY)

template <typename T>
LOCAL T bitwise_xor(T x, T y) {
  return x ^ y;
}
INTEGERS(bitwise_xor, XY)

template <typename T>
LOCAL T bitwise_not(T x) {
  return ~x;
}
INTEGERS(bitwise_not, X)

/// A count of places that is no number from 0 to one below the width moves every bit out.
template <typename T>
LOCAL bool moves_all_out(T count) {
  return (unsigned long long)count >= 8 * sizeof(T);
}

template <typename T>
LOCAL T left_shift(T x, T y) {
  return moves_all_out(y) ? (T)0 : (T)((unsigned long long)x << (y & (8 * (int)sizeof(T) - 1)));
}
INTEGERS(left_shift, XY)

template <typename T>
LOCAL T right_shift(T x, T y) {
  return moves_all_out(y) ? (x < 0 ? (T)-1 : (T)0) : x >> (y & (8 * (int)sizeof(T) - 1));
}
INTEGERS(right_shift, XY)

}  // namespace cupola::device::operations
