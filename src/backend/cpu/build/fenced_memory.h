#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdlib>
#include <span>
#include <utility>

namespace cupola::cpu::build::testing {

/// Zeros that end where nothing can be read or written; of whole kPages they begin there, too.
class Fenced {
 public:
  static constexpr size_t kPage = 16384;

  explicit Fenced(size_t size) : size_(size), pages_((size + kPage - 1) / kPage * kPage) {
    void* place = mmap(nullptr, pages_ + 2 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) abort();
    begin_ = static_cast<std::byte*>(place);
    if (mprotect(begin_ + kPage, pages_, PROT_READ | PROT_WRITE) != 0) abort();
  }
  ~Fenced() {
    if (begin_) munmap(begin_, pages_ + 2 * kPage);
  }
  Fenced(Fenced&& other) noexcept
      : size_(other.size_), pages_(other.pages_), begin_(std::exchange(other.begin_, nullptr)) {}
  Fenced& operator=(Fenced&&) = delete;

  std::span<std::byte> bytes() const { return {begin_ + kPage + (pages_ - size_), size_}; }

 private:
  const size_t size_, pages_;
  std::byte* begin_;
};

}  // namespace cupola::cpu::build::testing
