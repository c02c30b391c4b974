#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

/// A domain's sticky error, and what the host threads that wait for the domain sleep on. Any thread.
class DeviceFault {
 public:
  /// Keeps the first error since clear() and calls `on_fault` for each.
  void record(Error error);

  /// Forgets the error, once the calls that record() makes have returned. Works that were in flight at the fault must
  /// be over, or they may fault again.
  void clear();
  bool any() const { return any_.load(std::memory_order_acquire); }
  std::optional<Error> get() const;

  /// Called by each record(), outside its lock. Set before the first command runs.
  std::function<void()> on_fault;

  /// Calls `listener` once, at the next fault, or here if there is one now; unless forget() comes before.
  uint64_t listen(std::function<void()> listener);
  void forget(uint64_t listener);

  /// Sleeps until `ready()` is true or a fault is there. `ready` must become true before a wake().
  template <typename Ready>
  void sleep_until(Ready ready) {
    Lock lock(mutex_);
    sleepers_.fetch_add(1);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // pairs with the one in wake()
    while (!ready() && !any()) changed_.wait(lock);
    sleepers_.fetch_sub(1);
  }

  /// Lets sleepers look again.
  void wake();

 private:
  mutable Mutex mutex_;
  Condition changed_;
  std::map<uint64_t, std::function<void()>> listeners_ GUARDED_BY(mutex_);
  uint64_t last_listener_ GUARDED_BY(mutex_) = 0;
  uint32_t recording_ GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};
  std::atomic<int> sleepers_{0};
};

}  // namespace cupola::cpu
