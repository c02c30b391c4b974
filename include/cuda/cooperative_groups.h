#pragma once

// Cooperative groups: "CUDA C++ Programming Guide, Cooperative Groups". A group is a value: its kind and, for groups
// inside a warp, the mask of its lanes. Needs nothing but cuda_runtime.h. Clusters (from sm_90 on) are not here: naming
// them is an error.

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)

#define _CG_HAS_GRID_GROUP

#include "cupola/groups_base.h"
#include "cupola/groups_lanes.h"
#include "cupola/groups_warps.h"

namespace cooperative_groups {
namespace __v1 {

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

/// The block.
class thread_block : public thread_group {
 public:
  using arrival_token = group_arrival_token;

  CUPOLA_GROUP static void sync() { __barrier_sync(0); }
  CUPOLA_GROUP static unsigned int num_threads() { return details::block_threads(); }
  CUPOLA_GROUP static unsigned int size() { return details::block_threads(); }
  CUPOLA_GROUP static unsigned int thread_rank() { return details::block_rank_of_thread(); }
  CUPOLA_GROUP static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  CUPOLA_GROUP static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  CUPOLA_GROUP static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  CUPOLA_GROUP static dim3 dim_threads() { return group_dim(); }
  // "Threads blocked on barrier_wait might be released before other threads call barrier_wait": here they are not.
  CUPOLA_GROUP static arrival_token barrier_arrive() { return {}; }
  CUPOLA_GROUP static void barrier_wait(arrival_token&&) { sync(); }

 private:
  CUPOLA_GROUP thread_block() : thread_group(details::block_group, 0) {}
  friend CUPOLA_GROUP thread_block this_thread_block();
};
CUPOLA_GROUP thread_block this_thread_block() { return thread_block(); }

/// What tiles of more than a warp need below compute capability 8.0; elsewhere it "should consume no memory".
template <unsigned int MaxBlockSize = 1024>
struct block_tile_memory {};
template <unsigned int MaxBlockSize>
CUPOLA_GROUP thread_block this_thread_block(block_tile_memory<MaxBlockSize>&) {
  return this_thread_block();
}

/// The grid. sync() needs a cooperative launch.
class grid_group : public thread_group {
 public:
  using arrival_token = group_arrival_token;

  CUPOLA_GROUP static bool is_valid() { return __cupola_grid_is_cooperative() != 0; }
  CUPOLA_GROUP static void sync() { __cupola_grid_sync(); }
  CUPOLA_GROUP static unsigned long long num_threads() { return details::grid_blocks() * details::block_threads(); }
  CUPOLA_GROUP static unsigned long long size() { return num_threads(); }
  CUPOLA_GROUP static unsigned long long thread_rank() {
    return details::grid_block_rank() * details::block_threads() + details::block_rank_of_thread();
  }
  CUPOLA_GROUP static unsigned long long num_blocks() { return details::grid_blocks(); }
  CUPOLA_GROUP static unsigned long long block_rank() { return details::grid_block_rank(); }
  CUPOLA_GROUP static dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  CUPOLA_GROUP static dim3 group_dim() { return dim_blocks(); }
  CUPOLA_GROUP static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  CUPOLA_GROUP static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  CUPOLA_GROUP static arrival_token barrier_arrive() { return {}; }
  CUPOLA_GROUP static void barrier_wait(arrival_token&&) { sync(); }

 private:
  CUPOLA_GROUP grid_group() : thread_group(details::whole_grid_group, 0) {}
  friend CUPOLA_GROUP grid_group this_grid();
};
CUPOLA_GROUP grid_group this_grid() { return grid_group(); }

/// A part of a group: Size threads, a power of two up to 1024.
template <unsigned int Size, typename Parent = void>
class thread_block_tile;
template <unsigned int Size>
class thread_block_tile<Size, void> : public details::tile<Size> {
 protected:
  using details::tile<Size>::tile;
};
/// The same, knowing at compile time what it is a part of.
template <unsigned int Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 public:
  CUPOLA_GROUP thread_block_tile(unsigned int place, unsigned int siblings)
      : thread_block_tile<Size, void>(place, siblings) {}
};

CUPOLA_GROUP thread_block_tile<1> this_thread() { return thread_block_tile<1, thread_block>(0, 1); }

namespace details {
template <unsigned int Size>
CUPOLA_GROUP bool is_tile_of(const tile<Size>*) {
  return true;
}
template <unsigned int Size>
CUPOLA_GROUP bool is_tile_of(const void*) {
  return false;
}
}  // namespace details

/// Parts of Size threads. A block that is no multiple of Size has a smaller last warp: its missing lanes count as
/// exited. Waits for the parent's threads where Size is more than a warp.
template <unsigned int Size, typename Parent>
CUPOLA_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
  if (Size > 32) {
    // A tile as large has begun the same word, where some of its threads may have arrived already.
    if (!details::is_tile_of<Size>(&parent) && details::lane() == 0) details::begin_warps_barrier(Size / 32);
    parent.sync();
  }
  const unsigned int threads = (unsigned int)parent.num_threads();
  return thread_block_tile<Size, Parent>((unsigned int)parent.thread_rank() / Size, (threads + Size - 1) / Size);
}
/// The same with a size known at run time: of a block, aligned parts of its warps; of a coalesced group, runs of
/// members.
CUPOLA_GROUP coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  const unsigned int place = parent.thread_rank() / size, mask = parent.lane_mask();
  unsigned int part = 0, rank = 0;
  for (unsigned int rest = mask; rest; rest &= rest - 1, ++rank)
    if (rank / size == place) part |= rest & (0u - rest);
  return coalesced_group(part, place, (parent.num_threads() + size - 1) / size);
}
CUPOLA_GROUP thread_group tiled_partition(const thread_group& parent, unsigned int size) {
  if (parent.kind_ == details::lanes_group) return tiled_partition(coalesced_group(parent.mask_, 0, 1), size);
  const unsigned int part = size >= 32 ? 0xffffffffu : ((1u << size) - 1) << (details::lane() & ~(size - 1));
  return coalesced_group(part, details::block_rank_of_thread() / size, (details::block_threads() + size - 1) / size);
}

/// Members with the same label.
template <typename Label>
CUPOLA_GROUP coalesced_group labeled_partition(const details::lanes& group, Label label) {
  const unsigned int mask = __match_any_sync(group.lane_mask(), label);
  // A part's number is how many parts begin before it.
  const bool leads = details::lanes_below(mask) == 0;
  const unsigned int leaders = __ballot_sync(group.lane_mask(), leads);
  return coalesced_group(mask, __popc(leaders & ((mask & (0u - mask)) - 1)), __popc(leaders));
}
/// Members for which the predicate holds, and those for which it does not.
CUPOLA_GROUP coalesced_group binary_partition(const details::lanes& group, bool predicate) {
  const unsigned int holds = __ballot_sync(group.lane_mask(), predicate);
  const unsigned int others = group.lane_mask() & ~holds;
  return coalesced_group(predicate ? holds : others, predicate ? 1 : 0, 2);
}

template <typename Group>
CUPOLA_GROUP void sync(const Group& group) {
  group.sync();
}
template <typename Group>
CUPOLA_GROUP auto thread_rank(const Group& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <typename Group>
CUPOLA_GROUP auto group_size(const Group& group) -> decltype(group.num_threads()) {
  return group.num_threads();
}

#define CUPOLA_CLUSTERS \
  __attribute__((unavailable("thread block clusters need sm_90; Cupola's devices have compute capability 8.9")))
class CUPOLA_CLUSTERS cluster_group;
CUPOLA_CLUSTERS __device__ thread_block this_cluster();  // of a type, so that `auto` is not what is complained of
#undef CUPOLA_CLUSTERS

/// One member calls the function.
template <typename Group, typename Function, typename... Arguments>
CUPOLA_GROUP void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
}
/// One member calls the function and all get its result.
template <typename Group, typename Function, typename... Arguments>
CUPOLA_GROUP auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments)
    -> decltype(function(static_cast<Arguments&&>(arguments)...)) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
  return details::broadcast(group, result, 0);
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#endif
