#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace cupola::hal {

/// A launch's parameters. Up to kInline bytes lie in place, so that a launch allocates nothing.
class ParameterBlock {
 public:
  static constexpr size_t kInline = 256;

  ParameterBlock() = default;
  explicit ParameterBlock(size_t size) { resize(size); }
  explicit ParameterBlock(std::span<const std::byte> bytes) { assign(bytes); }
  ParameterBlock(const std::vector<std::byte>& bytes) { assign(bytes); }

  ParameterBlock(const ParameterBlock& other) { assign(other); }
  ParameterBlock(ParameterBlock&& other) noexcept { take(other); }
  ParameterBlock& operator=(const ParameterBlock& other) {
    if (this != &other) assign(other);
    return *this;
  }
  ParameterBlock& operator=(ParameterBlock&& other) noexcept {
    if (this != &other) take(other);
    return *this;
  }
  ~ParameterBlock() = default;

  size_t size() const { return size_; }
  std::byte* data() { return large_ ? large_.get() : small_; }
  const std::byte* data() const { return large_ ? large_.get() : small_; }
  operator std::span<const std::byte>() const { return {data(), size_}; }

  /// Keeps what there is; new bytes are 0.
  void resize(size_t size) {
    if (size > kInline) {
      auto larger = std::make_unique<std::byte[]>(size);
      std::memcpy(larger.get(), data(), std::min(size, size_));
      large_ = std::move(larger);
    } else {
      if (large_) std::memcpy(small_, large_.get(), std::min(size, size_));
      if (size > size_) std::memset(small_ + size_, 0, size - size_);
      large_.reset();
    }
    size_ = size;
  }

 private:
  void assign(std::span<const std::byte> bytes) {
    large_ = bytes.size() > kInline ? std::make_unique_for_overwrite<std::byte[]>(bytes.size()) : nullptr;
    size_ = bytes.size();
    if (size_) std::memcpy(data(), bytes.data(), size_);
  }

  void take(ParameterBlock& other) {
    large_ = std::move(other.large_);
    size_ = std::exchange(other.size_, 0);
    std::memcpy(small_, other.small_, kFew);  // without a call
    if (size_ > kFew && !large_) std::memcpy(small_ + kFew, other.small_ + kFew, size_ - kFew);
  }

  static constexpr size_t kFew = 64;  ///< bytes that most kernels take at most

  alignas(16) std::byte small_[kInline];
  std::unique_ptr<std::byte[]> large_;
  size_t size_ = 0;
};

}  // namespace cupola::hal
