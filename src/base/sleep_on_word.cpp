#include "base/sleep_on_word.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#else
#include <algorithm>
#include <chrono>
#include <thread>
#endif

namespace cupola {

#if defined(__linux__)

void sleep_on(const std::atomic<uint32_t>& word, uint32_t value, std::optional<uint64_t> nanoseconds) {
  timespec time{};
  if (nanoseconds) {
    time.tv_sec = static_cast<time_t>(*nanoseconds / 1'000'000'000);
    time.tv_nsec = static_cast<long>(*nanoseconds % 1'000'000'000);
  }
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds ? &time : nullptr, nullptr, 0);
}

void wake_one_on(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_all_on(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

#else

/// With a time it looks now and then: the standard library has no such wait.
void sleep_on(const std::atomic<uint32_t>& word, uint32_t value, std::optional<uint64_t> nanoseconds) {
  if (!nanoseconds) return word.wait(value, std::memory_order_acquire);
  constexpr std::chrono::nanoseconds kLook{1'000'000};
  const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(*nanoseconds);
  for (auto now = std::chrono::steady_clock::now(); word.load(std::memory_order_acquire) == value && now < end;
       now = std::chrono::steady_clock::now())
    std::this_thread::sleep_for(std::min(kLook, std::chrono::nanoseconds(end - now)));
}

void wake_one_on(const std::atomic<uint32_t>& word) {
  const_cast<std::atomic<uint32_t>&>(word).notify_one();
}

void wake_all_on(const std::atomic<uint32_t>& word) {
  const_cast<std::atomic<uint32_t>&>(word).notify_all();
}

#endif

}  // namespace cupola
