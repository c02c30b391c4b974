#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "backend/cpu/run/device_thread.h"
#include "base/steady_clock.h"

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
    const uint64_t end = steady_nanoseconds() + nanoseconds_;
    do {
      for (int i = 0; i < kLooksAtATime; ++i) {
        pause_briefly();
        if (!ready()) continue;
        nanoseconds_ = std::min(kMost, 2 * nanoseconds_);
        return true;
      }
    } while (steady_nanoseconds() < end);
    nanoseconds_ = std::max(kLeast, nanoseconds_ / 2);
    return false;
  }

 private:
  // About what a sleep and a wake-up take, and what a launch that follows a launch takes.
  static constexpr uint64_t kMost = 20'000, kLeast = 1'000;
  static constexpr int kLooksAtATime = 16;

  uint64_t nanoseconds_ = kMost;
};

}  // namespace cupola::cpu
