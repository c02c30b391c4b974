#pragma once

// cooperative_groups::reduce and the operators it knows.

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace cooperative_groups {

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

#define CUPOLA_OPERATOR(name, expression)                            \
  template <typename T>                                              \
  struct name {                                                      \
    CUPOLA_GROUP T operator()(T a, T b) const { return expression; } \
  };
CUPOLA_OPERATOR(plus, (T)(a + b))
CUPOLA_OPERATOR(less, b < a ? b : a)
CUPOLA_OPERATOR(greater, a < b ? b : a)
CUPOLA_OPERATOR(bit_and, (T)(a & b))
CUPOLA_OPERATOR(bit_or, (T)(a | b))
CUPOLA_OPERATOR(bit_xor, (T)(a ^ b))
#undef CUPOLA_OPERATOR

/// The values of all members combined, in every member. Pairs are combined in the order of a tree.
template <unsigned int Size, typename Parent, typename T, typename Operator>
CUPOLA_GROUP T reduce(const thread_block_tile<Size, Parent>& group, T value, Operator&& op) {
  for (unsigned int distance = Size / 2; distance > 0; distance /= 2)
    value = op(value, group.shfl_xor(value, distance));
  return value;
}
/// In the order of rank.
template <typename T, typename Operator>
CUPOLA_GROUP T reduce(const coalesced_group& group, T value, Operator&& op) {
  T result = group.shfl(value, 0);
  for (unsigned int rank = 1; rank < group.num_threads(); ++rank) result = op(result, group.shfl(value, rank));
  return result;
}

/// reduce, and one member combines the result with *target atomically.
#define CUPOLA_REDUCE_UPDATE(name, atomic)                                                           \
  template <typename Group, typename T>                                                              \
  CUPOLA_GROUP void reduce_update_async(const Group& group, T* target, T value, const name<T>& op) { \
    const T result = reduce(group, value, op);                                                       \
    if (group.thread_rank() == 0) atomic(target, result);                                            \
  }
CUPOLA_REDUCE_UPDATE(plus, atomicAdd)
CUPOLA_REDUCE_UPDATE(less, atomicMin)
CUPOLA_REDUCE_UPDATE(greater, atomicMax)
CUPOLA_REDUCE_UPDATE(bit_and, atomicAnd)
CUPOLA_REDUCE_UPDATE(bit_or, atomicOr)
CUPOLA_REDUCE_UPDATE(bit_xor, atomicXor)
#undef CUPOLA_REDUCE_UPDATE

/// reduce, and one member stores the result.
template <typename Group, typename T, typename Operator>
CUPOLA_GROUP void reduce_store_async(const Group& group, T* target, T value, Operator&& op) {
  const T result = reduce(group, value, op);
  if (group.thread_rank() == 0) *target = result;
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace cooperative_groups

#endif
