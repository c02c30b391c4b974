#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backend/cpu/run/cpu_domain.h"
#include "base/mutex.h"
#include "hal/semaphore.h"

namespace cupola::cpu {

class CpuSemaphore final : public hal::Semaphore {
 public:
  CpuSemaphore(uint64_t initial, std::shared_ptr<CpuDomain> domain) : value_(initial), domain_(std::move(domain)) {}

  uint64_t value() const override { return value_.load(std::memory_order_acquire); }
  void signal(uint64_t value) override;
  Result<> wait(uint64_t value) override;
  void when(uint64_t value, std::function<void()> then) override;

 private:
  struct Waiter {
    uint64_t value;
    std::function<void()> then;
  };

  std::atomic<uint64_t> value_;
  const std::shared_ptr<CpuDomain> domain_;
  Mutex mutex_;
  std::vector<Waiter> waiters_ GUARDED_BY(mutex_);
};

}  // namespace cupola::cpu
