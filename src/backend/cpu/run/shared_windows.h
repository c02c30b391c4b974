#pragma once

#include <vector>

#include "backend/cpu/run/aligned_mapping.h"
#include "image/cpu_abi.h"

namespace cupola::cpu {

/// Shared windows of one worker's resident blocks; not thread-safe. What a window holds when it is acquired is
/// unspecified.
class SharedWindows {
 public:
  /// Null, or std::bad_alloc, when the system has no more.
  std::byte* acquire() {
    if (free_.empty() && !add_slab()) return nullptr;
    std::byte* window = free_.back();
    free_.pop_back();
    return window;
  }
  void release(std::byte* window) { free_.push_back(window); }

 private:
  static constexpr size_t kSlabWindows = 8;

  bool add_slab() {
    using image::cpu::kSharedWindow;
    // Wide accesses under a mask may reach below a window, with lanes that do not run. That takes the processor some
    // 200 cycles where no page is, so each has one below it, of the window before or of the first, which is no block's.
    AlignedMapping slab =
        AlignedMapping::reserve((1 + kSlabWindows) * kSharedWindow, kSharedWindow, PROT_READ | PROT_WRITE);
    if (!slab.data()) return false;
    slabs_.reserve(slabs_.size() + 1);
    free_.reserve((slabs_.size() + 1) * kSlabWindows);  // so that release() takes no memory
    for (size_t i = kSlabWindows; i > 0; --i) {
      std::byte* window = slab.data() + i * kSharedWindow;
      *static_cast<volatile std::byte*>(window - 1) = {};
      free_.push_back(window);
    }
    slabs_.push_back(std::move(slab));
    return true;
  }

  std::vector<AlignedMapping> slabs_;
  std::vector<std::byte*> free_;
};

}  // namespace cupola::cpu
