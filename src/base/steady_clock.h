#pragma once

#include <cstdint>
#include <ctime>

namespace cupola {

/// Nanoseconds of a clock that only goes forward and is the same in all processes. Any thread.
inline uint64_t steady_nanoseconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace cupola
