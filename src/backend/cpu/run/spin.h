#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "base/pause.h"
#include "base/steady_clock.h"

namespace cupola::cpu {

/// How long a thread looks before it sleeps: as long as a sleep and a wake-up cost, if what it waited for lately came
/// within that time; else shorter each time. One thread's, or under a lock.
class SpinBudget {
 public:
  /// `most`: in nanoseconds. The waking of a thread takes 5 to 80 microseconds, most where machines are virtual.
  explicit constexpr SpinBudget(uint64_t most) : most_(most), nanoseconds_(most) {}

  uint64_t nanoseconds() const { return nanoseconds_; }

  /// True as soon as `ready()` is; false when the time is over. Then the thread sleeps, and tells waited().
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
        nanoseconds_ = most_;
        return true;
      }
    } while (steady_nanoseconds() < end);
    return false;
  }

  /// After a sleep: how long after spin() began there was what the thread waited for, which is earlier than when it
  /// woke up.
  void waited(uint64_t nanoseconds) {
    nanoseconds_ = nanoseconds <= most_ ? most_ : std::max(kLeast, nanoseconds_ / 2);
  }

 private:
  static constexpr uint64_t kLeast = 1'000;
  static constexpr int kLooksAtATime = 16;

  uint64_t most_, nanoseconds_;
};

}  // namespace cupola::cpu
