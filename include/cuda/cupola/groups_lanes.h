#pragma once

// Part of cooperative_groups.h: groups inside a warp.

#include "groups_base.h"

#pragma push_macro("CUPOLA_GROUP")
#define CUPOLA_GROUP __device__ __inline__ __attribute__((always_inline))

namespace cooperative_groups {
namespace __v1 {

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

namespace details {

template <unsigned int Size, bool Wide = (Size > 32)>
class tile;

/// A tile of Size threads, a power of two up to a warp.
template <unsigned int Size>
class tile<Size, false> : public lanes {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "the size of a tile is a power of two");

 public:
  CUPOLA_GROUP static constexpr unsigned int num_threads() { return Size; }
  CUPOLA_GROUP static constexpr unsigned int size() { return Size; }
  CUPOLA_GROUP static unsigned int thread_rank() { return lane() & (Size - 1); }

  template <typename T>
  CUPOLA_GROUP T shfl(T value, int rank) const {
    return shuffle(mask_, value, first() + ((unsigned int)rank & (Size - 1)));
  }
  template <typename T>
  CUPOLA_GROUP T shfl_down(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shuffle(mask_, value, first() + (delta < Size - rank ? rank + delta : rank));
  }
  template <typename T>
  CUPOLA_GROUP T shfl_up(T value, unsigned int delta) const {
    const unsigned int rank = thread_rank();
    return shuffle(mask_, value, first() + (delta <= rank ? rank - delta : rank));
  }
  template <typename T>
  CUPOLA_GROUP T shfl_xor(T value, unsigned int lanes) const {
    const unsigned int rank = thread_rank() ^ lanes;
    return shuffle(mask_, value, first() + (rank < Size ? rank : thread_rank()));
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
  CUPOLA_GROUP tile(unsigned int place, unsigned int siblings)
      : lanes((Size == 32 ? 0xffffffffu : (1u << (Size % 32)) - 1) << first(), place, siblings) {}

 private:
  CUPOLA_GROUP static unsigned int first() { return lane() & ~(Size - 1); }
};

}  // namespace details
}  // namespace __v1
using namespace __v1;
}  // namespace cooperative_groups

#pragma pop_macro("CUPOLA_GROUP")
