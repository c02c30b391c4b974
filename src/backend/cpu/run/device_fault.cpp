#include "backend/cpu/run/device_fault.h"

#include "base/log.h"

namespace cupola::cpu {

void DeviceFault::record(Error error) {
  if (!any()) log::line(log::Topic::Error, "{}", error.message);  // those of other workers follow from the same mistake
  std::map<uint64_t, std::function<void()>> listeners;
  {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    any_.store(true, std::memory_order_release);
    ++recording_;
    listeners.swap(listeners_);
  }
  if (on_fault) on_fault();
  for (auto& [id, listener] : listeners) listener();
  Lock lock(mutex_);
  --recording_;
  changed_.notify_all();
}

uint64_t DeviceFault::listen(std::function<void()> listener) {
  {
    Lock lock(mutex_);
    if (!error_) {
      listeners_.emplace(++last_listener_, std::move(listener));
      return last_listener_;
    }
  }
  listener();
  return 0;
}

void DeviceFault::forget(uint64_t listener) {
  Lock lock(mutex_);
  listeners_.erase(listener);
}

void DeviceFault::clear() {
  Lock lock(mutex_);
  // on_fault gives up all works that it finds: it must not find those that come after the clearing.
  while (recording_) changed_.wait(lock);
  error_.reset();
  any_.store(false, std::memory_order_release);
}

std::optional<Error> DeviceFault::get() const {
  if (!any()) return std::nullopt;
  Lock lock(mutex_);
  return error_;
}

void DeviceFault::wake() {
  // Ordered after the caller's change: a sleeper either sees the change or is counted here.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (sleepers_.load() == 0) return;
  Lock lock(mutex_);
  changed_.notify_all();
}

}  // namespace cupola::cpu
