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
  /// `most`: in nanoseconds. The waking of a thread takes 5 to 100 microseconds, most where machines are virtual.
  explicit constexpr SpinBudget(uint64_t most) : most_(most), nanoseconds_(most) {}

  uint64_t nanoseconds() const { return nanoseconds_; }

  /// True as soon as `ready()` is; false when the time is over. Then the thread sleeps, and tells came_at().
  template <typename Ready>
  bool spin(const Ready& ready) {
    if (ready()) return true;
    began_ = steady_nanoseconds();
    static const bool alone = std::thread::hardware_concurrency() == 1;
    if (alone) return false;
    const uint64_t end = began_ + nanoseconds_;
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

  /// After a sleep: when, by the steady clock, there was what the thread waited for, which is before it woke up.
  void came_at(uint64_t time) { nanoseconds_ = time <= began_ + most_ ? most_ : std::max(kLeast, nanoseconds_ / 2); }

 private:
  static constexpr uint64_t kLeast = 1'000;
  static constexpr int kLooksAtATime = 16;

  uint64_t most_, nanoseconds_, began_ = 0;
};

/// How long a host thread that waits for the device looks. One thread's.
class HostPatience {
 public:
  /// `has_place`: a core is idle, which this thread looks for work on, up to 200 microseconds; else it keeps a worker
  /// from its core, and looks up to 20.
  template <typename Ready>
  bool spin(bool has_place, const Ready& ready) {
    had_place_ = has_place;
    return last().spin(ready);
  }

  /// As SpinBudget's, of the last time.
  void came_at(uint64_t time) { last().came_at(time); }

 private:
  SpinBudget& last() { return had_place_ ? beside_free_cores_ : beside_workers_; }

  SpinBudget beside_free_cores_{200'000}, beside_workers_{20'000};
  bool had_place_ = false;
};

}  // namespace cupola::cpu
