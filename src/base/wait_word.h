#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

namespace cupola {

/// Bits that one thread sleeps on and others raise; at first none. Whoever raises a bit touches the word no more once
/// the sleeper can see it, so the sleeper may end the word's life then.
class WaitWord {
 public:
  /// Sets the bits, which are not none, and wakes the sleeper. Any thread.
  void raise(uint32_t bits);

  /// Sleeps until any bit is set, at most so long if asked; returns what is set.
  uint32_t wait(std::optional<uint64_t> nanoseconds = std::nullopt);

  uint32_t bits() const { return bits_.load(std::memory_order_acquire); }

  /// Takes all bits back. By the thread that sleeps.
  void clear() { bits_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint32_t> bits_{0};
};

}  // namespace cupola
