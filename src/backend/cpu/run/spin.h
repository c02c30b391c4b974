#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "backend/cpu/run/device_thread.h"

namespace cupola::cpu {

/// How long a thread looks before it sleeps: longer after it paid, shorter after it did not. One thread's, or under a
/// lock.
class SpinBudget {
 public:
  /// True as soon as `ready()` is; false when the time is over.
  template <typename Ready>
  bool spin(const Ready& ready) {
    if (ready()) return true;
    static const bool alone = std::thread::hardware_concurrency() == 1;
    if (alone) return false;
    const uint64_t end = now() + nanoseconds_;
    do {
      for (int i = 0; i < kLooksAtATime; ++i) {
        pause_briefly();
        if (!ready()) continue;
        nanoseconds_ = std::min(kMost, 2 * nanoseconds_);
        return true;
      }
    } while (now() < end);
    nanoseconds_ = std::max(kLeast, nanoseconds_ / 2);
    return false;
  }

 private:
  // About what a sleep and a wake-up take, and what a launch that follows a launch takes.
  static constexpr uint64_t kMost = 20'000, kLeast = 1'000;
  static constexpr int kLooksAtATime = 16;

  static uint64_t now() {
    const auto time = std::chrono::steady_clock::now().time_since_epoch();
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }

  uint64_t nanoseconds_ = kMost;
};

}  // namespace cupola::cpu
