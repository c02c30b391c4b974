#pragma once

// cooperative_groups::memcpy_async: the group's threads copy at once, and wait() makes the copy visible to all of them.

#include "../cooperative_groups.h"

#if defined(__CUDA__) && defined(__cplusplus)

namespace cooperative_groups {
namespace __v1 {

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

template <typename Group, typename To, typename From>
CUPOLA_GROUP void memcpy_async(const Group& group, To* to, const From* from, size_t bytes) {
  char* target = (char*)to;
  const char* source = (const char*)from;
  size_t at = group.thread_rank() * 4;
  const size_t stride = group.num_threads() * 4;
  for (; at + 4 <= bytes; at += stride) __builtin_memcpy(target + at, source + at, 4);
  for (; at < bytes; ++at) target[at] = source[at];
}
/// Counts of elements; the smaller holds.
template <typename Group, typename To, typename From>
CUPOLA_GROUP void memcpy_async(const Group& group, To* to, size_t to_count, const From* from, size_t from_count) {
  const size_t to_bytes = to_count * sizeof(To), from_bytes = from_count * sizeof(From);
  memcpy_async(group, to, from, to_bytes < from_bytes ? to_bytes : from_bytes);
}
template <typename Group>
CUPOLA_GROUP void wait(const Group& group) {
  group.sync();
}
template <unsigned int Stages, typename Group>
CUPOLA_GROUP void wait_prior(const Group& group) {
  group.sync();
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
