#pragma once

// cooperative_groups::reduce and the operators it knows. Values are combined in the order of rank, as a tree.

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace cooperative_groups {
namespace __v1 {

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

namespace details {

template <unsigned int Size, typename T, typename Operator>
CUPOLA_GROUP T reduced(const tile<Size, false>& group, T value, Operator& op) {
  for (unsigned int distance = 1; distance < Size; distance *= 2) {
    const T other = group.shfl_xor(value, distance);
    value = group.thread_rank() & distance ? op(other, value) : op(value, other);
  }
  return value;
}
template <typename T, typename Operator>
CUPOLA_GROUP T reduced(const coalesced_group& group, T value, Operator& op) {
  const unsigned int rank = group.thread_rank(), members = group.num_threads();
  for (unsigned int distance = 1; distance < members; distance *= 2) {
    const T above = group.shfl_down(value, distance);
    if (rank + distance < members) value = op(value, above);
  }
  return group.shfl(value, 0);
}
template <unsigned int Size, typename T, typename Operator>
CUPOLA_GROUP T reduced(const tile<Size, true>& group, T value, Operator& op) {
  for (unsigned int distance = 1; distance < 32; distance *= 2) {
    const T other = shuffle(~0u, value, lane() ^ distance);
    value = lane() & distance ? op(other, value) : op(value, other);
  }
  group.show(value);
  group.value_of(0, value);
  T next = value;
  for (unsigned int warp = 1; warp < group.warps(); ++warp) {
    group.value_of(warp, next);
    value = op(value, next);
  }
  group.hide();
  return value;
}

// update(atomic, value, op, &op) combines a cuda::atomic's value with another and returns what it was. The last
// argument chooses: one operation of the atomic's for an operator that it has one for, else compare-and-swap.
#define CUPOLA_UPDATE(name, fetch)                                                                                   \
  template <typename Atomic, typename T, typename Operator>                                                          \
  CUPOLA_GROUP auto update(Atomic& atomic, T value, Operator&, const name<T>*) -> decltype((T)atomic.fetch(value)) { \
    return (T)atomic.fetch(value);                                                                                   \
  }
CUPOLA_UPDATE(plus, fetch_add)
CUPOLA_UPDATE(less, fetch_min)
CUPOLA_UPDATE(greater, fetch_max)
CUPOLA_UPDATE(bit_and, fetch_and)
CUPOLA_UPDATE(bit_or, fetch_or)
CUPOLA_UPDATE(bit_xor, fetch_xor)
#undef CUPOLA_UPDATE
template <typename Atomic, typename T, typename Operator>
CUPOLA_GROUP T update(Atomic& atomic, T value, Operator& op, const void*) {
  T before = atomic.load();
  while (!atomic.compare_exchange_weak(before, op(before, value)));
  return before;
}

}  // namespace details

/// The values of all members combined, in every member. Groups: tiles and coalesced groups.
template <typename Group, typename T, typename Operator>
CUPOLA_GROUP auto reduce(const Group& group, T&& value, Operator&& op) -> decltype(op(value, value)) {
  return details::reduced(group, (details::plain_t<decltype(op(value, value))>)value, op);
}

/// reduce, and one member combines the result with the cuda::atomic.
template <typename Group, typename Atomic, typename T, typename Operator>
CUPOLA_GROUP void reduce_update_async(const Group& group, Atomic& atomic, T&& value, Operator&& op) {
  const auto result = reduce(group, value, op);
  if (group.thread_rank() == 0) details::update(atomic, result, op, &op);
}
/// reduce, and one member stores the result in the cuda::atomic.
template <typename Group, typename Atomic, typename T, typename Operator>
CUPOLA_GROUP void reduce_store_async(const Group& group, Atomic& atomic, T&& value, Operator&& op) {
  const auto result = reduce(group, value, op);
  if (group.thread_rank() == 0) atomic.store(result);
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
