#pragma once

// cooperative_groups::inclusive_scan and exclusive_scan, and their forms that update a cuda::atomic.

#include "reduce.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace cooperative_groups {
namespace __v1 {

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

namespace details {

template <typename Group, typename T, typename Operator>
CUPOLA_GROUP T scanned_in_warp(const Group& group, T value, Operator& op) {
  const unsigned int rank = group.thread_rank();
  for (unsigned int distance = 1; distance < group.num_threads(); distance *= 2) {
    const T below = group.shfl_up(value, distance);
    if (rank >= distance) value = op(below, value);
  }
  return value;
}
template <unsigned int Size, typename T, typename Operator>
CUPOLA_GROUP T scanned(const tile<Size, false>& group, T value, Operator& op) {
  return scanned_in_warp(group, value, op);
}
template <typename T, typename Operator>
CUPOLA_GROUP T scanned(const coalesced_group& group, T value, Operator& op) {
  return scanned_in_warp(group, value, op);
}
template <unsigned int Size, typename T, typename Operator>
CUPOLA_GROUP T scanned(const tile<Size, true>& group, T value, Operator& op) {
  for (unsigned int distance = 1; distance < 32; distance *= 2) {
    const T below = shuffle(~0u, value, lane() >= distance ? lane() - distance : lane());
    if (lane() >= distance) value = op(below, value);
  }
  group.show(shuffle(~0u, value, 31));
  const unsigned int mine = group.thread_rank() / 32;
  if (mine > 0) {
    T before = value, next = value;
    group.value_of(0, before);
    for (unsigned int warp = 1; warp < mine; ++warp) {
      group.value_of(warp, next);
      before = op(before, next);
    }
    value = op(before, value);
  }
  group.hide();
  return value;
}

/// The value of the rank below; in rank 0 T{}.
template <typename T>
CUPOLA_GROUP T from_below(const lanes& group, T value) {
  const T below = group.shfl_up(value, 1);
  return lanes_below(group.lane_mask()) == 0 ? T{} : below;
}
template <unsigned int Size, typename T>
CUPOLA_GROUP T from_below(const tile<Size, true>& group, T value) {
  T below = shuffle(~0u, value, lane() ? lane() - 1 : 0);
  group.show(shuffle(~0u, value, 31));
  const unsigned int mine = group.thread_rank() / 32;
  if (lane() == 0 && mine > 0) group.value_of(mine - 1, below);
  group.hide();
  return group.thread_rank() == 0 ? T{} : below;
}
/// The value of the last member.
template <typename Group, typename T>
CUPOLA_GROUP T of_last(const Group& group, const T& value) {
  return broadcast(group, value, (unsigned int)group.num_threads() - 1);
}

}  // namespace details

/// The values of ranks 0 to one's own, combined. Groups: tiles and coalesced groups.
template <typename Group, typename T, typename Operator>
CUPOLA_GROUP auto inclusive_scan(const Group& group, T&& value, Operator&& op) -> decltype(op(value, value)) {
  return details::scanned(group, (details::plain_t<decltype(op(value, value))>)value, op);
}
template <typename Group, typename T>
CUPOLA_GROUP details::plain_t<T> inclusive_scan(const Group& group, T&& value) {
  return inclusive_scan(group, value, plus<details::plain_t<T>>());
}

/// The values of the ranks below, combined; rank 0 gets T{}.
template <typename Group, typename T, typename Operator>
CUPOLA_GROUP auto exclusive_scan(const Group& group, T&& value, Operator&& op) -> decltype(op(value, value)) {
  return details::from_below(group, inclusive_scan(group, value, op));
}
template <typename Group, typename T>
CUPOLA_GROUP details::plain_t<T> exclusive_scan(const Group& group, T&& value) {
  return exclusive_scan(group, value, plus<details::plain_t<T>>());
}

/// The scan beginning with what the cuda::atomic holds, to which the values of all members are added.
template <typename Group, typename Atomic, typename T, typename Operator>
CUPOLA_GROUP auto inclusive_scan_update(const Group& group, Atomic& atomic, T&& value, Operator&& op)
    -> decltype(op(value, value)) {
  const auto scanned = inclusive_scan(group, value, op);
  auto before = scanned;
  if (group.thread_rank() + 1 == group.num_threads()) before = details::update(atomic, scanned, op, &op);
  return op(details::of_last(group, before), scanned);
}
template <typename Group, typename Atomic, typename T>
CUPOLA_GROUP details::plain_t<T> inclusive_scan_update(const Group& group, Atomic& atomic, T&& value) {
  return inclusive_scan_update(group, atomic, value, plus<details::plain_t<T>>());
}
template <typename Group, typename Atomic, typename T, typename Operator>
CUPOLA_GROUP auto exclusive_scan_update(const Group& group, Atomic& atomic, T&& value, Operator&& op)
    -> decltype(op(value, value)) {
  const auto scanned = inclusive_scan(group, value, op);
  auto before = scanned;
  if (group.thread_rank() + 1 == group.num_threads()) before = details::update(atomic, scanned, op, &op);
  before = details::of_last(group, before);
  const auto below = details::from_below(group, scanned);
  return group.thread_rank() == 0 ? before : op(before, below);
}
template <typename Group, typename Atomic, typename T>
CUPOLA_GROUP details::plain_t<T> exclusive_scan_update(const Group& group, Atomic& atomic, T&& value) {
  return exclusive_scan_update(group, atomic, value, plus<details::plain_t<T>>());
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
