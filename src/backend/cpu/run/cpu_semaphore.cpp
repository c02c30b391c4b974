#include "backend/cpu/run/cpu_semaphore.h"

#include "backend/cpu/run/device_thread.h"

namespace cupola::cpu {
namespace {

// Looks this often before the thread sleeps: for kernels that take a few microseconds.
constexpr int kSpins = 2000;

}  // namespace

void CpuSemaphore::signal(uint64_t value) {
  std::vector<Waiter> reached;
  {
    Lock lock(mutex_);
    if (value <= value_.load(std::memory_order_relaxed)) return;
    value_.store(value, std::memory_order_release);
    std::vector<Waiter> still;
    for (Waiter& waiter : waiters_) (waiter.value > value ? still : reached).push_back(std::move(waiter));
    waiters_.swap(still);
  }
  domain_->faults.wake();
  for (Waiter& waiter : reached) waiter.then();
}

Result<> CpuSemaphore::wait(uint64_t value) {
  const auto reached = [&] { return this->value() >= value; };
  for (int i = 0; i < kSpins && !reached(); ++i) pause_briefly();
  if (!reached()) domain_->faults.sleep_until(reached);
  if (auto error = domain_->faults.get()) return fail(std::move(*error));
  return {};
}

void CpuSemaphore::when(uint64_t value, std::function<void()> then) {
  {
    Lock lock(mutex_);
    if (this->value() < value) {
      waiters_.push_back({value, std::move(then)});
      return;
    }
  }
  then();
}

}  // namespace cupola::cpu
