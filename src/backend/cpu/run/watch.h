#pragma once

#include <atomic>
#include <cstdint>

namespace cupola::cpu {

struct KernelCode;

/// Watches how long code runs, until that is enough for better code to pay that takes its place. Any thread.
class Watch {
 public:
  explicit Watch(uint64_t enough_nanoseconds) : left_(static_cast<int64_t>(enough_nanoseconds)) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Whether it matters still how long the code runs.
  bool counts() const { return left_.load(std::memory_order_relaxed) > 0; }

  /// A worker ran the code for so long; `goes_on`: it has more blocks to run. May take half a second then.
  void ran(uint64_t nanoseconds, bool goes_on = true) {
    const auto spent = static_cast<int64_t>(nanoseconds);
    const int64_t before = left_.fetch_sub(spent, std::memory_order_relaxed);
    if (before > 0 && before <= spent) enough(goes_on);
  }

  /// The code that has taken the place; null while there is none. It lives as long as this.
  const KernelCode* hot() const { return hot_.load(std::memory_order_acquire); }

 protected:
  ~Watch() = default;

  /// Called once, on a worker, or a host thread that helps.
  virtual void enough(bool goes_on) = 0;

  void take(const KernelCode& hot) { hot_.store(&hot, std::memory_order_release); }

 private:
  std::atomic<int64_t> left_;
  std::atomic<const KernelCode*> hot_ = nullptr;
};

}  // namespace cupola::cpu
