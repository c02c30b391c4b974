#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/spin.h"
#include "base/mutex.h"
#include "hal/semaphore.h"

namespace cupola::cpu {

/// Something that waits for a value of one semaphore at a time.
class SemaphoreWaiter {
 public:
  /// The value is reached; on the signalling thread, which holds no lock.
  virtual void reached() = 0;

  /// The semaphore ends first.
  virtual void abandoned() {}

 protected:
  ~SemaphoreWaiter() = default;

 private:
  friend class CpuSemaphore;
  // Under the semaphore's lock.
  uint64_t awaited_ = 0;
  bool listed_ = false;
  SemaphoreWaiter *before_ = nullptr, *after_ = nullptr;
};

/// Lends a hand to what raises a semaphore.
class SemaphoreHelper {
 public:
  /// Does parts of the work on the calling thread, and returns soon after `over()` is true. False when nothing has come
  /// for a while: then the thread sleeps.
  virtual bool help(const std::function<bool()>& over, HostPatience& patience) = 0;

 protected:
  ~SemaphoreHelper() = default;
};

class CpuSemaphore final : public hal::Semaphore {
 public:
  CpuSemaphore(uint64_t initial, std::shared_ptr<CpuDomain> domain) : value_(initial), domain_(std::move(domain)) {}
  ~CpuSemaphore() override;

  uint64_t value() const override { return value_.load(std::memory_order_acquire); }
  void signal(uint64_t value) override;
  Result<> wait(uint64_t value) override;
  void when(uint64_t value, std::function<void()> then) override;

  /// Whom host threads that wait for this semaphore help. Set before it is shared.
  void set_helper(std::weak_ptr<SemaphoreHelper> helper) { helper_ = std::move(helper); }

  /// False when the value is reached already; else the waiter is told once, unless remove() comes before.
  bool add(SemaphoreWaiter& waiter, uint64_t value);

  /// True when the waiter will not be told any more; false when it waits here no longer: it was told, or is being told.
  bool remove(SemaphoreWaiter& waiter);

 private:
  uint64_t sleep(uint64_t value);
  void link(SemaphoreWaiter& waiter) REQUIRES(mutex_);
  void unlink(SemaphoreWaiter& waiter) REQUIRES(mutex_);

  std::atomic<uint64_t> value_;
  std::atomic<uint32_t> waiters_{0};  ///< at least as many as the list has
  const std::shared_ptr<CpuDomain> domain_;
  std::weak_ptr<SemaphoreHelper> helper_;
  Mutex mutex_;
  SemaphoreWaiter* first_ GUARDED_BY(mutex_) = nullptr;  ///< waits for the lowest value
  SemaphoreWaiter* last_ GUARDED_BY(mutex_) = nullptr;
};

}  // namespace cupola::cpu
