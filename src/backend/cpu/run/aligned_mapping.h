#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace cupola::cpu {

/// Anonymous private memory, aligned as asked, without swap reservation. Empty (data() null) when the system refused.
class AlignedMapping {
 public:
  AlignedMapping() = default;
  AlignedMapping(AlignedMapping&& other) noexcept { *this = std::move(other); }
  AlignedMapping& operator=(AlignedMapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedMapping() {
    if (data_) munmap(data_, size_);
  }

  /// `alignment` is a power of two and a multiple of the page size, `size` a multiple of the page size.
  static AlignedMapping reserve(size_t size, size_t alignment, int protection) {
    AlignedMapping result;
    const size_t wide = size + alignment;
    if (wide < size) return result;
    void* mapped = mmap(nullptr, wide, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return result;
    auto* begin = static_cast<std::byte*>(mapped);
    const size_t before = -reinterpret_cast<uintptr_t>(begin) & (alignment - 1);
    if (before) munmap(begin, before);
    if (alignment - before) munmap(begin + before + size, alignment - before);
    result.data_ = begin + before;
    result.size_ = size;
    return result;
  }

  std::byte* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace cupola::cpu
