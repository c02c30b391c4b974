#include "hal/host_semaphore.h"

#include <deque>

namespace cupola::hal {
namespace {

/// Calls it now; or, where one such call made this one, after that and before the outermost returns.
void call_in_turn(std::function<void()> then) {
  thread_local std::deque<std::function<void()>>* running = nullptr;
  if (running) {
    running->push_back(std::move(then));
    return;
  }
  std::deque<std::function<void()>> turns;
  turns.push_back(std::move(then));
  running = &turns;
  for (; !turns.empty(); turns.pop_front()) turns.front()();
  running = nullptr;
}

}  // namespace

uint64_t HostSemaphore::value() const {
  Lock lock(state_.mutex);
  return value_;
}

void HostSemaphore::signal(uint64_t value) {
  std::multimap<uint64_t, std::function<void()>> due;
  {
    Lock lock(state_.mutex);
    if (value <= value_) return;
    value_ = value;
    while (!then_.empty() && then_.begin()->first <= value) due.insert(then_.extract(then_.begin()));
    state_.changed.notify_all();
  }
  for (auto& [at, then] : due) call_in_turn(std::move(then));  // outside the lock: they may look at this semaphore
}

Result<> HostSemaphore::wait(uint64_t value, const HostDomain& domain) NO_THREAD_SAFETY_ANALYSIS {
  Lock lock(state_.mutex);  // the domain's too: they have one state
  while (value_ < value && !domain.error) state_.changed.wait(lock);
  if (domain.error) return fail(*domain.error);
  return {};
}

void HostSemaphore::when(uint64_t value, std::function<void()> then) {
  {
    Lock lock(state_.mutex);
    if (value_ < value) {
      then_.emplace(value, std::move(then));
      return;
    }
  }
  then();
}

}  // namespace cupola::hal
