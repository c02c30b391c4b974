#include "backend/cpu/run/device_fault.h"

#include <new>

#include "base/log.h"

namespace cupola::cpu {

void DeviceFault::record(Error error) noexcept {
  try {
    if (!any())
      log::line(log::Topic::Error, "{}", error.message);  // those of other workers follow from the same mistake
  } catch (const std::bad_alloc&) {                       // the program hears of it all the same
  }
  {
    Lock lock(mutex_);
    if (!error_) error_ = std::move(error);
    any_.store(true, std::memory_order_release);
    ++recording_;
    for (Sleeper* each = sleepers_; each; each = each->after_) each->fault_recorded();
  }
  if (on_fault) on_fault();
  std::shared_ptr<Listener> told;
  while ((told = next_listener(told))) told->fault_recorded();
  Lock lock(mutex_);
  if (--recording_ == 0) recorded_.notify_all();
}

void DeviceFault::record_out_of_memory(std::string_view line) noexcept {
  Error error{ErrorCode::OutOfMemory, {}};
  try {
    error.message = line;
  } catch (const std::bad_alloc&) {  // the code alone, then
  }
  record(std::move(error));
}

/// The listener after `told`, or the first; null after the last. New ones come first: they find the fault themselves.
std::shared_ptr<DeviceFault::Listener> DeviceFault::next_listener(const std::shared_ptr<Listener>& told) {
  Lock lock(mutex_);
  for (Listener* each = told ? told->after_ : listeners_; each; each = each->after_)
    if (auto pinned = each->pin()) return pinned;
  return nullptr;
}

void DeviceFault::clear() {
  Lock lock(mutex_);
  // on_fault gives up all works that it finds: it must not find those that come after the clearing.
  while (recording_) recorded_.wait(lock);
  error_.reset();
  any_.store(false, std::memory_order_release);
}

std::optional<Error> DeviceFault::get() const {
  if (!any()) return std::nullopt;
  Lock lock(mutex_);
  return error_;
}

bool DeviceFault::add(Sleeper& sleeper) {
  Lock lock(mutex_);
  if (error_) return false;
  sleeper.before_ = nullptr;
  sleeper.after_ = sleepers_;
  if (sleepers_) sleepers_->before_ = &sleeper;
  sleepers_ = &sleeper;
  return true;
}

void DeviceFault::remove(Sleeper& sleeper) {
  Lock lock(mutex_);
  (sleeper.before_ ? sleeper.before_->after_ : sleepers_) = sleeper.after_;
  if (sleeper.after_) sleeper.after_->before_ = sleeper.before_;
}

void DeviceFault::add(Listener& listener) {
  Lock lock(mutex_);
  listener.before_ = nullptr;
  listener.after_ = listeners_;
  if (listeners_) listeners_->before_ = &listener;
  listeners_ = &listener;
}

void DeviceFault::remove(Listener& listener) {
  Lock lock(mutex_);
  (listener.before_ ? listener.before_->after_ : listeners_) = listener.after_;
  if (listener.after_) listener.after_->before_ = listener.before_;
}

}  // namespace cupola::cpu
