#include "base/wait_word.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>
#else
#include <chrono>
#include <thread>
#endif

namespace cupola {

#if defined(__linux__)

void WaitWord::raise(uint32_t bits) {
  bits_.fetch_or(bits, std::memory_order_acq_rel);
  // An address only: if the word is gone, the system finds nobody who sleeps there.
  syscall(SYS_futex, &bits_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

uint32_t WaitWord::wait(std::optional<uint64_t> nanoseconds) {
  timespec time{};
  if (nanoseconds) {
    time.tv_sec = static_cast<time_t>(*nanoseconds / 1'000'000'000);
    time.tv_nsec = static_cast<long>(*nanoseconds % 1'000'000'000);
  }
  for (;;) {
    if (const uint32_t now = bits()) return now;
    const long result = syscall(SYS_futex, &bits_, FUTEX_WAIT_PRIVATE, 0, nanoseconds ? &time : nullptr, nullptr, 0);
    if (result == 0 || !nanoseconds) continue;
    return bits();  // the time is over, or a signal came: early is as good
  }
}

#else

void WaitWord::raise(uint32_t bits) {
  bits_.fetch_or(bits, std::memory_order_acq_rel);
  bits_.notify_one();
}

uint32_t WaitWord::wait(std::optional<uint64_t> nanoseconds) {
  if (!nanoseconds) {
    while (bits() == 0) bits_.wait(0, std::memory_order_acquire);
  } else if (bits() == 0) {
    std::this_thread::sleep_for(std::chrono::nanoseconds(*nanoseconds));
  }
  return bits();
}

#endif

}  // namespace cupola
