#pragma once

// Cooperative groups: "CUDA C++ Programming Guide, Cooperative Groups". A group is a value: its kind and, for groups
// inside a warp, the mask of its lanes. Needs nothing but cuda_runtime.h. Not here: clusters (sm_90) and tiles of more
// than 32 threads.

#include "cuda_runtime.h"

#if defined(__CUDA__) && defined(__cplusplus)

#define _CG_HAS_GRID_GROUP

extern "C" __device__ void __cupola_grid_sync() __asm__("cupola.grid.sync");
extern "C" __device__ unsigned int __cupola_grid_is_cooperative() __asm__("cupola.grid.is_cooperative");

namespace cooperative_groups {

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

namespace details {

enum group_kind { invalid_group, block_group, whole_grid_group, lanes_group };

CUPOLA_GROUP unsigned int lane() { return __nvvm_read_ptx_sreg_laneid(); }
CUPOLA_GROUP unsigned int lanes_below(unsigned int mask) { return __popc(mask & ((1u << lane()) - 1)); }
CUPOLA_GROUP unsigned int block_rank_of_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
CUPOLA_GROUP unsigned int block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
CUPOLA_GROUP unsigned long long grid_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
CUPOLA_GROUP unsigned long long grid_block_rank() {
  return blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
}
/// The lane of the mask's member number `rank`.
CUPOLA_GROUP unsigned int lane_of(unsigned int mask, unsigned int rank) {
  for (; rank > 0; --rank) mask &= mask - 1;
  return __ffs(mask) - 1;
}

/// Any value that can be copied bytewise, shuffled word by word from a lane.
template <typename T>
CUPOLA_GROUP T shuffle(unsigned int mask, const T& value, unsigned int from_lane) {
  constexpr unsigned int words = (sizeof(T) + 3) / 4;
  unsigned int buffer[words] = {};
  __builtin_memcpy(buffer, &value, sizeof(T));
  for (unsigned int i = 0; i < words; ++i) buffer[i] = __shfl_sync(mask, buffer[i], (int)from_lane);
  T result = value;
  __builtin_memcpy((void*)&result, buffer, sizeof(T));
  return result;
}

}  // namespace details

/// Any group whose kind is known at run time only.
class thread_group {
 public:
  thread_group() = default;

  CUPOLA_GROUP unsigned long long num_threads() const {
    if (kind_ == details::whole_grid_group) return details::grid_blocks() * details::block_threads();
    return kind_ == details::block_group ? details::block_threads() : __popc(mask_);
  }
  CUPOLA_GROUP unsigned long long size() const { return num_threads(); }
  CUPOLA_GROUP unsigned long long thread_rank() const {
    if (kind_ == details::whole_grid_group)
      return details::grid_block_rank() * details::block_threads() + details::block_rank_of_thread();
    return kind_ == details::block_group ? details::block_rank_of_thread() : details::lanes_below(mask_);
  }
  CUPOLA_GROUP bool is_valid() const {
    return kind_ == details::whole_grid_group ? __cupola_grid_is_cooperative() != 0 : kind_ != details::invalid_group;
  }
  CUPOLA_GROUP void sync() const {
    if (kind_ == details::whole_grid_group)
      __cupola_grid_sync();
    else if (kind_ == details::block_group)
      __barrier_sync(0);
    else
      __syncwarp(mask_);
  }

 protected:
  CUPOLA_GROUP thread_group(details::group_kind kind, unsigned int mask) : kind_(kind), mask_(mask) {}

  details::group_kind kind_ = details::invalid_group;
  unsigned int mask_ = 0;

  friend CUPOLA_GROUP thread_group tiled_partition(const thread_group& parent, unsigned int size);
};

/// What arrive gives and wait takes.
struct group_arrival_token {};

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
  // Waiting where the token is used up is as strong as a split barrier.
  CUPOLA_GROUP static arrival_token barrier_arrive() { return {}; }
  CUPOLA_GROUP static void barrier_wait(arrival_token&&) { sync(); }

 private:
  CUPOLA_GROUP thread_block() : thread_group(details::block_group, 0) {}
  friend CUPOLA_GROUP thread_block this_thread_block();
};
CUPOLA_GROUP thread_block this_thread_block() { return thread_block(); }

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

namespace details {

/// What groups inside a warp share. `place` is the group's number among its siblings, `siblings` their count.
class lanes : public thread_group {
 public:
  lanes() = default;

  CUPOLA_GROUP void sync() const { __syncwarp(mask_); }
  CUPOLA_GROUP unsigned int meta_group_rank() const { return place_; }
  CUPOLA_GROUP unsigned int meta_group_size() const { return siblings_; }
  CUPOLA_GROUP int any(int predicate) const { return __any_sync(mask_, predicate); }
  CUPOLA_GROUP int all(int predicate) const { return __all_sync(mask_, predicate); }

  /// The value of member `rank`.
  template <typename T>
  CUPOLA_GROUP T shfl(T value, unsigned int rank) const {
    const unsigned int members = __popc(mask_);
    return shuffle(mask_, value, lane_of(mask_, rank < members ? rank : rank % members));
  }
  /// The value of the member `delta` ranks above or below; one's own where there is none.
  template <typename T>
  CUPOLA_GROUP T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = lanes_below(mask_);
    return shuffle(mask_, value, delta < __popc(mask_) - rank ? lane_of(mask_, rank + delta) : lane());
  }
  template <typename T>
  CUPOLA_GROUP T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = lanes_below(mask_);
    return shuffle(mask_, value, delta <= rank ? lane_of(mask_, rank - delta) : lane());
  }

  /// Bit i stands for member i.
  CUPOLA_GROUP unsigned int ballot(int predicate) const { return packed(__ballot_sync(mask_, predicate)); }
  template <typename T>
  CUPOLA_GROUP unsigned int match_any(T value) const {
    return packed(__match_any_sync(mask_, value));
  }
  template <typename T>
  CUPOLA_GROUP unsigned int match_all(T value, int& predicate) const {
    return packed(__match_all_sync(mask_, value, &predicate));
  }

  CUPOLA_GROUP unsigned int lane_mask() const { return mask_; }

 protected:
  CUPOLA_GROUP lanes(unsigned int mask, unsigned int place, unsigned int siblings)
      : thread_group(lanes_group, mask), place_(place), siblings_(siblings) {}

 private:
  CUPOLA_GROUP unsigned int packed(unsigned int lanes_set) const {
    unsigned int result = 0, bit = 1;
    for (unsigned int rest = mask_; rest; rest &= rest - 1, bit <<= 1)
      if (lanes_set & rest & (0u - rest)) result |= bit;
    return result;
  }

  unsigned int place_ = 0, siblings_ = 0;
};

}  // namespace details

/// The threads of a warp that are active together, or a part of them.
class coalesced_group : public details::lanes {
 public:
  CUPOLA_GROUP unsigned int num_threads() const { return __popc(mask_); }
  CUPOLA_GROUP unsigned int size() const { return num_threads(); }
  CUPOLA_GROUP unsigned int thread_rank() const { return details::lanes_below(mask_); }

  CUPOLA_GROUP coalesced_group(unsigned int mask, unsigned int place, unsigned int siblings)
      : lanes(mask, place, siblings) {}
};
CUPOLA_GROUP coalesced_group coalesced_threads() { return coalesced_group(__activemask(), 0, 1); }

template <unsigned int Size, typename Parent = void>
class thread_block_tile;

/// A tile of Size threads, a power of two up to a warp.
template <unsigned int Size>
class thread_block_tile<Size, void> : public details::lanes {
  static_assert(Size >= 1 && Size <= 32 && (Size & (Size - 1)) == 0,
                "Cupola supports tiles of 1, 2, 4, 8, 16 or 32 threads");

 public:
  CUPOLA_GROUP static constexpr unsigned int num_threads() { return Size; }
  CUPOLA_GROUP static constexpr unsigned int size() { return Size; }
  CUPOLA_GROUP static unsigned int thread_rank() { return details::lane() & (Size - 1); }

  template <typename T>
  CUPOLA_GROUP T shfl(T value, int rank) const {
    return details::shuffle(mask_, value, first() + ((unsigned int)rank & (Size - 1)));
  }
  template <typename T>
  CUPOLA_GROUP T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return details::shuffle(mask_, value, first() + (delta < Size - rank ? rank + delta : rank));
  }
  template <typename T>
  CUPOLA_GROUP T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return details::shuffle(mask_, value, first() + (delta <= rank ? rank - delta : rank));
  }
  template <typename T>
  CUPOLA_GROUP T shfl_xor(T value, unsigned int lanes) const {
    const unsigned int rank = thread_rank() ^ lanes;
    return details::shuffle(mask_, value, first() + (rank < Size ? rank : thread_rank()));
  }
  CUPOLA_GROUP unsigned int ballot(int predicate) const { return __ballot_sync(mask_, predicate) >> first(); }
  template <typename T>
  CUPOLA_GROUP unsigned int match_any(T value) const {
    return __match_any_sync(mask_, value) >> first();
  }
  template <typename T>
  CUPOLA_GROUP unsigned int match_all(T value, int& predicate) const {
    return __match_all_sync(mask_, value, &predicate) >> first();
  }

 protected:
  CUPOLA_GROUP thread_block_tile(unsigned int place, unsigned int siblings)
      : lanes((Size == 32 ? 0xffffffffu : (1u << (Size % 32)) - 1) << first(), place, siblings) {}

 private:
  CUPOLA_GROUP static unsigned int first() { return details::lane() & ~(Size - 1); }
};

/// The same, knowing at compile time what it is a part of.
template <unsigned int Size, typename Parent>
class thread_block_tile : public thread_block_tile<Size, void> {
 public:
  CUPOLA_GROUP thread_block_tile(unsigned int place, unsigned int siblings)
      : thread_block_tile<Size, void>(place, siblings) {}
};

CUPOLA_GROUP thread_block_tile<1> this_thread() { return thread_block_tile<1, thread_block>(0, 1); }

/// Parts of Size threads. A block that is no multiple of Size has a smaller last warp: its missing lanes count as
/// exited.
template <unsigned int Size, typename Parent>
CUPOLA_GROUP thread_block_tile<Size, Parent> tiled_partition(const Parent& parent) {
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
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

#pragma pop_macro("CUPOLA_GROUP")

}  // namespace cooperative_groups

#endif
