#pragma once

#include <memory>

#include "hal/buffer.h"

namespace cupola::hal {

/// Addresses from mmap. Without backing they are mapped without any right, so that a stray access faults.
class NullBuffer final : public Buffer {
 public:
  static constexpr uint64_t kChunkBytes = 2 * 1024 * 1024;

  static Result<std::unique_ptr<Buffer>> reserve(uint64_t size);
  NullBuffer(std::byte* base, uint64_t size) : base_(base), size_(size) {}
  ~NullBuffer() override;

  Address address() const override { return reinterpret_cast<Address>(base_); }
  uint64_t size() const override { return size_; }
  Result<> commit(uint64_t offset, uint64_t size) override;
  Result<> decommit(uint64_t offset, uint64_t size) override;

 private:
  Result<> map(uint64_t offset, uint64_t size, int protection, int flags);

  std::byte* const base_;
  const uint64_t size_;
};

}  // namespace cupola::hal
