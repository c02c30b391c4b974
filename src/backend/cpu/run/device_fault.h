#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

/// A domain's sticky error, and who hears of it. Any thread.
class DeviceFault {
 public:
  /// Sleeps, and is woken by a fault.
  class Sleeper {
   public:
    /// Under the lock of the fault: takes no other.
    virtual void fault_recorded() = 0;

   protected:
    ~Sleeper() = default;

   private:
    friend class DeviceFault;
    Sleeper *before_ = nullptr, *after_ = nullptr;
  };

  /// Hears of every fault, for as long as it lives.
  class Listener {
   public:
    /// Keeps the listener alive while it is told; null when it ends.
    virtual std::shared_ptr<Listener> pin() = 0;
    /// Without a lock; others may be recorded meanwhile.
    virtual void fault_recorded() = 0;

   protected:
    ~Listener() = default;

   private:
    friend class DeviceFault;
    Listener *before_ = nullptr, *after_ = nullptr;
  };

  /// Keeps the first error since clear(), calls `on_fault`, wakes the sleepers and tells the listeners.
  void record(Error error) noexcept;
  /// OutOfMemory, with the line if there is memory for that.
  void record_out_of_memory(std::string_view line) noexcept;

  /// Forgets the error, once the calls that record() makes have returned. Works that were in flight at the fault must
  /// be over, or they may fault again.
  void clear();
  bool any() const { return any_.load(std::memory_order_acquire); }
  std::optional<Error> get() const;

  /// Called by each record(), outside its lock. Set before the first command runs.
  std::function<void()> on_fault;

  /// False when there is a fault already. The sleeper is removed before it ends.
  bool add(Sleeper& sleeper);
  void remove(Sleeper& sleeper);

  void add(Listener& listener);
  void remove(Listener& listener);

 private:
  std::shared_ptr<Listener> next_listener(const std::shared_ptr<Listener>& told);

  mutable Mutex mutex_;
  Condition recorded_;
  Sleeper* sleepers_ GUARDED_BY(mutex_) = nullptr;
  Listener* listeners_ GUARDED_BY(mutex_) = nullptr;
  uint32_t recording_ GUARDED_BY(mutex_) = 0;
  std::optional<Error> error_ GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};
};

}  // namespace cupola::cpu
