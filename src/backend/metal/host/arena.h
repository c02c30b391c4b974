#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <utility>

#include "backend/metal/host/metal.h"
#include "base/mutex.h"
#include "base/result.h"

namespace cupola::metal {

class ArenaPart;

/// All memory that kernels reach: one mapping of the host's, which is one MTLBuffer, so that an address of the GPU is
/// the host's plus a constant wherever a program keeps it. Parts of it are buffers, module data and what queues need.
/// The host's addresses without a use cost nothing until they are touched. Any thread.
class Arena {
 public:
  static constexpr uint64_t kAlignment = 2 << 20;

  /// Of `bytes`, a multiple of kAlignment. Error: OutOfMemory.
  static Result<std::unique_ptr<Arena>> make(const Metal& metal, Id device, uint64_t bytes);
  ~Arena();
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  Id buffer() const { return buffer_.id(); }
  uint64_t size() const { return size_; }

  /// What to add to an address of the host for the GPU's, modulo 2^64.
  uint64_t to_gpu() const { return to_gpu_; }
  uint64_t gpu_address(const std::byte* host) const { return reinterpret_cast<uint64_t>(host) + to_gpu_; }
  uint64_t offset(const std::byte* host) const { return static_cast<uint64_t>(host - base_); }

  /// A part of its own, zeroed; the smallest place that is large enough. `alignment`: a power of two up to kAlignment.
  /// Error: OutOfMemory.
  Result<ArenaPart> take(uint64_t bytes, uint64_t alignment);

  /// Makes [address, address + bytes) zero, and gives the pages behind it back where the system can.
  void clear(std::byte* address, uint64_t bytes);

 private:
  friend class ArenaPart;
  Arena(std::byte* base, uint64_t size, Object buffer, uint64_t to_gpu);
  void give_back(std::byte* address, uint64_t bytes);

  std::byte* const base_;
  const uint64_t size_;
  Object buffer_;
  const uint64_t to_gpu_;
  Mutex mutex_;
  std::map<uint64_t, uint64_t> free_ GUARDED_BY(mutex_);  ///< offset to bytes; neighbours are joined
};

/// Owns a part of the arena.
class ArenaPart {
 public:
  ArenaPart() = default;
  ArenaPart(Arena& arena, std::byte* address, uint64_t size) : arena_(&arena), address_(address), size_(size) {}
  ArenaPart(ArenaPart&& other) noexcept
      : arena_(std::exchange(other.arena_, nullptr)), address_(other.address_), size_(other.size_) {}
  ArenaPart& operator=(ArenaPart&& other) noexcept {
    std::swap(arena_, other.arena_);
    std::swap(address_, other.address_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~ArenaPart() {
    if (arena_) arena_->give_back(address_, size_);
  }

  std::byte* address() const { return address_; }
  uint64_t size() const { return size_; }

 private:
  Arena* arena_ = nullptr;
  std::byte* address_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace cupola::metal
