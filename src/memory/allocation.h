#pragma once

#include <cstdint>
#include <utility>

#include "hal/types.h"

namespace cupola::memory {

class Heap;

/// A range of device addresses, in bytes.
struct Range {
  hal::Address address = 0;
  uint64_t size = 0;

  /// True when [at, at + bytes) lies inside.
  bool contains(hal::Address at, uint64_t bytes = 1) const {
    return at >= address && bytes <= size && at - address <= size - bytes;
  }
  friend bool operator==(const Range&, const Range&) = default;
};

/// Owns a range of a Heap and frees it when destroyed. The Heap outlives it. Not thread-safe by itself.
class Allocation {
 public:
  Allocation() = default;
  Allocation(Heap& heap, Range range) : heap_(&heap), range_(range) {}
  ~Allocation() { reset(); }
  Allocation(Allocation&& other) noexcept : heap_(std::exchange(other.heap_, nullptr)), range_(other.release()) {}
  Allocation& operator=(Allocation&& other) noexcept {
    if (this == &other) return *this;
    reset();
    heap_ = std::exchange(other.heap_, nullptr);
    range_ = other.release();
    return *this;
  }

  hal::Address address() const { return range_.address; }
  uint64_t size() const { return range_.size; }  ///< as asked for

  /// Gives ownership away: from now on whoever has the address frees it, with Heap::free.
  Range release() {
    heap_ = nullptr;
    return std::exchange(range_, {});
  }

  void reset();  ///< frees the range, if there is one

 private:
  Heap* heap_ = nullptr;
  Range range_;
};

}  // namespace cupola::memory
