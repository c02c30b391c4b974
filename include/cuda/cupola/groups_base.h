#pragma once

// Part of cooperative_groups.h: what all groups are made of, and the group whose kind is known at run time.

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

extern "C" __device__ void __cupola_grid_sync() __asm__("cupola.grid.sync");
extern "C" __device__ unsigned int __cupola_grid_is_cooperative() __asm__("cupola.grid.is_cooperative");

namespace cooperative_groups {
namespace __v1 {  // libcu++ declares the groups in here too
namespace details {

/// Lanes: a part of a warp. Warps: an aligned run of a block's warps.
enum group_kind { invalid_group, block_group, whole_grid_group, lanes_group, warps_group };

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

template <typename T>
struct plain {
  typedef T type;
};
template <typename T>
struct plain<T&> : plain<T> {};
template <typename T>
struct plain<T&&> : plain<T> {};
template <typename T>
struct plain<const T> : plain<T> {};
/// T without reference and const.
template <typename T>
using plain_t = typename plain<T>::type;

// -- waiting of some of a block's warps --

/// What tiles of more than a warp wait by, one word for each such tile that a block can have: the lower half counts the
/// warps that arrived, the upper half is the phase. A tile of w warps with number i has word 32 / w + i.
CUPOLA_GROUP unsigned int* warps_barrier(unsigned int warps) {
  __shared__ unsigned int barriers[32];
  return barriers + 32 / warps + block_rank_of_thread() / 32 / warps;
}
/// Called by at least one of the tile's threads before any waits; what the phase was does not matter.
CUPOLA_GROUP void begin_warps_barrier(unsigned int warps) {
  __scoped_atomic_fetch_and(warps_barrier(warps), 0xffff0000u, __ATOMIC_RELAXED, __MEMORY_SCOPE_WRKGRP);
}
/// How many of a tile's warps the block has: fewer in its last tile where it is no multiple of the tile.
CUPOLA_GROUP unsigned int warps_there(unsigned int warps) {
  const unsigned int first = block_rank_of_thread() / 32 / warps * warps, rest = (block_threads() + 31) / 32 - first;
  return rest < warps ? rest : warps;
}
CUPOLA_GROUP void sync_warps(unsigned int warps) {
  __syncwarp();
  if (lane() == 0) {
    unsigned int* const word = warps_barrier(warps);
    warps = warps_there(warps);
    const unsigned int before = __scoped_atomic_fetch_add(word, 1u, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    if ((before & 0xffff) + 1 == warps)
      __scoped_atomic_fetch_add(word, 0x10000u - warps, __ATOMIC_ACQ_REL, __MEMORY_SCOPE_WRKGRP);
    else
      while ((__scoped_atomic_load_n(word, __ATOMIC_ACQUIRE, __MEMORY_SCOPE_WRKGRP) ^ before) >> 16 == 0)
        __nvvm_nanosleep(0);
  }
  __syncwarp();
}

}  // namespace details

/// Any group whose kind is known at run time only.
class thread_group {
 public:
  thread_group() = default;

  CUPOLA_GROUP unsigned long long num_threads() const {
    switch (kind_) {
      case details::whole_grid_group:
        return details::grid_blocks() * details::block_threads();
      case details::block_group:
        return details::block_threads();
      case details::warps_group:
        return mask_;
      case details::lanes_group:
      case details::invalid_group:
        break;
    }
    return __popc(mask_);
  }
  CUPOLA_GROUP unsigned long long size() const { return num_threads(); }
  CUPOLA_GROUP unsigned long long thread_rank() const {
    switch (kind_) {
      case details::whole_grid_group:
        return details::grid_block_rank() * details::block_threads() + details::block_rank_of_thread();
      case details::block_group:
        return details::block_rank_of_thread();
      case details::warps_group:
        return details::block_rank_of_thread() & (mask_ - 1);
      case details::lanes_group:
      case details::invalid_group:
        break;
    }
    return details::lanes_below(mask_);
  }
  CUPOLA_GROUP bool is_valid() const {
    return kind_ == details::whole_grid_group ? __cupola_grid_is_cooperative() != 0 : kind_ != details::invalid_group;
  }
  CUPOLA_GROUP void sync() const {
    switch (kind_) {
      case details::whole_grid_group:
        return __cupola_grid_sync();
      case details::block_group:
        return __barrier_sync(0);
      case details::warps_group:
        return details::sync_warps(mask_ / 32);
      case details::lanes_group:
      case details::invalid_group:
        break;
    }
    __syncwarp(mask_);
  }

 protected:
  CUPOLA_GROUP thread_group(details::group_kind kind, unsigned int mask) : kind_(kind), mask_(mask) {}

  details::group_kind kind_ = details::invalid_group;
  unsigned int mask_ = 0;  ///< of lanes; of warps: how many threads

  friend CUPOLA_GROUP thread_group tiled_partition(const thread_group& parent, unsigned int size);
};

/// What arrive gives and wait takes.
struct group_arrival_token {};

}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#pragma pop_macro("CUPOLA_GROUP")
