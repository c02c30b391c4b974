#pragma once

// cooperative_groups::inclusive_scan and exclusive_scan.

#include "reduce.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace cooperative_groups {

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

/// The values of ranks 0 to one's own, combined.
template <typename Group, typename T, typename Operator>
CUPOLA_GROUP T inclusive_scan(const Group& group, T value, Operator&& op) {
  const unsigned int rank = (unsigned int)group.thread_rank();
  for (unsigned int distance = 1; distance < group.num_threads(); distance *= 2) {
    const T below = group.shfl_up(value, distance);
    if (rank >= distance) value = op(below, value);
  }
  return value;
}
template <typename Group, typename T>
CUPOLA_GROUP T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}

/// The values of the ranks below, combined; rank 0 gets T{}.
template <typename Group, typename T, typename Operator>
CUPOLA_GROUP T exclusive_scan(const Group& group, T value, Operator&& op) {
  const T below = group.shfl_up(inclusive_scan(group, value, op), 1);
  return group.thread_rank() == 0 ? T{} : below;
}
template <typename Group, typename T>
CUPOLA_GROUP T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace cooperative_groups

#endif
