#pragma once

#include <array>
#include <cstdint>

#include "backend/cpu/run/aligned_mapping.h"
#include "base/mutex.h"

namespace cupola::cpu {

/// The heap behind malloc and free in kernels: memory of its own, with all bookkeeping outside of it, so that a kernel
/// which writes past its block damages kernels' data and nothing else, and free() can tell a bad pointer. Neither call
/// uses the process's heap. Any thread; no kernel memory is touched under the lock.
///
/// Memory is divided into pages of 64 KiB. A page holds slots of one size, or belongs to a block of whole pages.
class DeviceHeap {
 public:
  static constexpr uint64_t kUsualLimit = 8 << 20;  ///< CUDA's default of the malloc heap size

  /// Addresses for `reach_bytes` are reserved at the first allocation.
  explicit DeviceHeap(uint64_t reach_bytes);
  ~DeviceHeap();

  /// 16-byte aligned; null when the limit or the machine's memory is reached, and for 0 bytes.
  void* allocate(uint64_t bytes);

  /// False when `pointer` is neither null nor the beginning of a live allocation.
  bool release(void* pointer);

  /// The most bytes in use at a time, counted as slots and pages. What is above a lowered limit stays.
  void set_limit(uint64_t bytes);
  uint64_t used() const;

  /// Frees everything.
  void clear();

 private:
  static constexpr uint32_t kSlotSizes = 20;
  struct Page;

  bool map() REQUIRES(mutex_);
  bool commit(uint64_t pages) REQUIRES(mutex_);
  uint32_t take_pages(uint64_t count) REQUIRES(mutex_);
  void give_pages(uint32_t first, uint32_t count) REQUIRES(mutex_);
  void* take_slot(uint32_t size_class) REQUIRES(mutex_);
  bool release_slot(uint32_t page, uint64_t within) REQUIRES(mutex_);
  void link(uint32_t page) REQUIRES(mutex_);
  void unlink(uint32_t page) REQUIRES(mutex_);
  Page& page(uint32_t index) const REQUIRES(mutex_);

  const uint64_t page_count_;
  mutable Mutex mutex_;
  AlignedMapping memory_ GUARDED_BY(mutex_);
  AlignedMapping pages_ GUARDED_BY(mutex_);
  uint64_t limit_ GUARDED_BY(mutex_) = kUsualLimit;
  uint64_t used_ GUARDED_BY(mutex_) = 0;
  uint64_t committed_ GUARDED_BY(mutex_) = 0;   ///< pages that are accessible, from the first on
  uint32_t top_ GUARDED_BY(mutex_) = 0;         ///< one past the last page that was ever taken
  uint32_t first_free_ GUARDED_BY(mutex_) = 0;  ///< no page below it is free
  /// Of each slot size, a page with a free slot, which leads to the others.
  std::array<uint32_t, kSlotSizes> open_ GUARDED_BY(mutex_);
};

}  // namespace cupola::cpu
