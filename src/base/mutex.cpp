#include "base/mutex.h"

#include "base/pause.h"
#include "base/sleep_on_word.h"
#include "base/steady_clock.h"

// The word and its three states are those of U. Drepper, "Futexes Are Tricky" (2011), the second mutex: who has slept
// holds it as awaited, since others may sleep still.

namespace cupola {
namespace {

constexpr int kLooks = 100;  // some microseconds

}  // namespace

void Mutex::lock_when_free() NO_THREAD_SAFETY_ANALYSIS {
  for (int looks = 0; looks < kLooks; ++looks) {
    pause_briefly();
    if (word_.load(std::memory_order_relaxed) == kFree && take()) return;
  }
  while (word_.exchange(kAwaited, std::memory_order_acquire) != kFree) sleep_on(word_, kAwaited);
}

void Mutex::wake_one() {
  wake_one_on(word_);
}

// Who waits counts itself, and reads the word, under the lock. So who changed something under it afterwards sees the
// count, and changes the word before the waiter can sleep on it.

void Condition::notify_one() noexcept {
  if (waiting_.load(std::memory_order_seq_cst) == 0) return;
  word_.fetch_add(1, std::memory_order_release);
  wake_one_on(word_);
}

void Condition::notify_all() noexcept {
  if (waiting_.load(std::memory_order_seq_cst) == 0) return;
  word_.fetch_add(1, std::memory_order_release);
  wake_all_on(word_);
}

bool Condition::wait_until_told(Mutex& mutex, std::optional<uint64_t> nanoseconds) NO_THREAD_SAFETY_ANALYSIS {
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  const uint32_t seen = word_.load(std::memory_order_acquire);
  mutex.unlock();
  const uint64_t end = nanoseconds ? steady_nanoseconds() + *nanoseconds : 0;
  bool is_told = false;
  for (;;) {
    std::optional<uint64_t> left;
    if (nanoseconds) {
      const uint64_t now = steady_nanoseconds();
      if (now >= end) break;
      left = end - now;
    }
    sleep_on(word_, seen, left);
    is_told = word_.load(std::memory_order_acquire) != seen;
    if (is_told) break;
  }
  mutex.lock();
  waiting_.fetch_sub(1, std::memory_order_relaxed);
  return is_told;
}

}  // namespace cupola
