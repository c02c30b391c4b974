#pragma once

// Part of cooperative_groups.h: tiles of more than a warp. Their threads exchange values through shared memory, 32
// bytes a warp, of which a kernel has some only if it uses such tiles.

#include "groups_base.h"

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

namespace cooperative_groups {
namespace __v1 {
namespace details {

/// The bytes of the block's warp number `warp`.
CUPOLA_GROUP unsigned int* warp_slot(unsigned int warp) {
  __shared__ __align__(16) unsigned int slots[32][8];
  return slots[warp];
}

/// A tile of Size threads, a power of two from 64 to 1024.
template <unsigned int Size>
class tile<Size, true> : public thread_group {
  static_assert(Size <= 1024 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two up to 1024");

 public:
  CUPOLA_GROUP static constexpr unsigned int num_threads() { return Size; }
  CUPOLA_GROUP static constexpr unsigned int size() { return Size; }
  CUPOLA_GROUP static unsigned int thread_rank() { return block_rank_of_thread() & (Size - 1); }
  CUPOLA_GROUP unsigned int meta_group_rank() const { return place_; }
  CUPOLA_GROUP unsigned int meta_group_size() const { return siblings_; }
  CUPOLA_GROUP static void sync() { sync_warps(Size / 32); }

  CUPOLA_GROUP int any(int predicate) const { return count(__any_sync(~0u, predicate)) != 0; }
  CUPOLA_GROUP int all(int predicate) const { return count(__all_sync(~0u, predicate)) == warps(); }

  /// How many warps of the tile there are.
  CUPOLA_GROUP static unsigned int warps() { return warps_there(Size / 32); }

  /// The value of member `rank`, which each thread chooses for itself.
  template <typename T>
  CUPOLA_GROUP T shfl(T value, unsigned int rank) const {
    constexpr unsigned int words = (sizeof(T) + 3) / 4;
    unsigned int buffer[words] = {}, from[words];
    __builtin_memcpy(buffer, &value, sizeof(T));
    const unsigned int source = rank & (Size - 1), mine = lane();
    for (unsigned int word = 0; word < words; ++word) {
      from[word] = 0;
      for (unsigned int part = 0; part < 32; part += 8) {
        if ((mine & ~7u) == part) warp_slot(warp_of(thread_rank()))[mine & 7] = buffer[word];
        sync();
        if ((source & 24) == part) from[word] = warp_slot(warp_of(source))[source & 7];
        sync();
      }
    }
    T result = value;
    __builtin_memcpy((void*)&result, from, sizeof(T));
    return result;
  }

  /// What lane 0 of each of the tile's warps gives, shown to all: show, then value_of, then hide.
  template <typename T>
  CUPOLA_GROUP void show(const T& value) const {
    static_assert(sizeof(T) <= 32, "tiles of more than 32 threads exchange values of up to 32 bytes");
    if (lane() == 0) __builtin_memcpy(warp_slot(warp_of(thread_rank())), &value, sizeof(T));
    sync();
  }
  template <typename T>
  CUPOLA_GROUP void value_of(unsigned int warp, T& value) const {
    __builtin_memcpy((void*)&value, warp_slot(warp_of(32 * warp)), sizeof(T));
  }
  CUPOLA_GROUP static void hide() { sync(); }

 protected:
  CUPOLA_GROUP tile(unsigned int place, unsigned int siblings)
      : thread_group(warps_group, Size), place_(place), siblings_(siblings) {}

 private:
  /// The block's number of the warp that member `rank` belongs to.
  CUPOLA_GROUP static unsigned int warp_of(unsigned int rank) {
    return (block_rank_of_thread() / Size * Size + rank) / 32;
  }
  CUPOLA_GROUP unsigned int count(bool holds) const {
    show((unsigned int)holds);
    unsigned int sum = 0;
    for (unsigned int warp = 0; warp < warps(); ++warp) {
      unsigned int one = 0;
      value_of(warp, one);
      sum += one;
    }
    hide();
    return sum;
  }

  unsigned int place_ = 0, siblings_ = 0;
};

/// The value of member `rank`, the same rank for all.
template <typename T>
CUPOLA_GROUP T broadcast(const lanes& group, const T& value, unsigned int rank) {
  return shuffle(group.lane_mask(), value, lane_of(group.lane_mask(), rank));
}
template <unsigned int Size, typename T>
CUPOLA_GROUP T broadcast(const tile<Size, true>& group, const T& value, unsigned int rank) {
  const T of_warp = shuffle(~0u, value, rank % 32);
  group.show(of_warp);
  T result = value;
  group.value_of(rank / 32, result);
  group.hide();
  return result;
}

}  // namespace details
}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#pragma pop_macro("CUPOLA_GROUP")
