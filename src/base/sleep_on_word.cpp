#include "base/sleep_on_word.h"

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#else
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#endif

namespace cupola {

#if defined(__linux__)

void sleep_on(const std::atomic<uint32_t>& word, uint32_t value, std::optional<uint64_t> nanoseconds) {
  timespec time{};
  if (nanoseconds) {
    time.tv_sec = static_cast<time_t>(*nanoseconds / 1'000'000'000);
    time.tv_nsec = static_cast<long>(*nanoseconds % 1'000'000'000);
  }
  const int kept = errno;  // programs lock within calls that leave it alone
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nanoseconds ? &time : nullptr, nullptr, 0);
  errno = kept;
}

void wake_one_on(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

void wake_all_on(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

#else

namespace {

/// Where those sleep whose words lie in some places: the standard library has no timed wait for a word.
struct Bucket {
  std::mutex mutex;
  std::condition_variable woken;
};

Bucket& bucket_of(const std::atomic<uint32_t>& word) {
  constexpr size_t kBuckets = 64;
  static auto* const buckets = new std::array<Bucket, kBuckets>;  // leaked: used after static destructors
  return (*buckets)[reinterpret_cast<uintptr_t>(&word) / sizeof(std::max_align_t) % kBuckets];
}

void wake_bucket_of(const std::atomic<uint32_t>& word) {
  Bucket& bucket = bucket_of(word);
  {
    const std::lock_guard lock(bucket.mutex);
  }  // who looks at its word now sees what it has become, or sleeps by then
  bucket.woken.notify_all();
}

}  // namespace

void sleep_on(const std::atomic<uint32_t>& word, uint32_t value, std::optional<uint64_t> nanoseconds) {
  Bucket& bucket = bucket_of(word);
  std::unique_lock lock(bucket.mutex);
  if (word.load(std::memory_order_acquire) != value) return;
  if (nanoseconds)
    bucket.woken.wait_for(lock, std::chrono::nanoseconds(*nanoseconds));
  else
    bucket.woken.wait(lock);
}

void wake_one_on(const std::atomic<uint32_t>& word) {
  wake_bucket_of(word);
}

void wake_all_on(const std::atomic<uint32_t>& word) {
  wake_bucket_of(word);
}

#endif

}  // namespace cupola
