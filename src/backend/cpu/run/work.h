#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>

namespace cupola::cpu {

class Worker;
struct CpuDomain;

/// Something the pool spreads over its workers: items 0 to count - 1, handed out in increasing order.
class Work {
 public:
  Work(uint64_t count, std::shared_ptr<CpuDomain> domain, std::function<void()> done)
      : count_(count), domain_(std::move(domain)), unfinished_(count), done_(std::move(done)) {}
  virtual ~Work() = default;

  uint64_t count() const { return count_; }
  CpuDomain& domain() const { return *domain_; }

  /// Most items that a worker is handed at a time.
  virtual uint64_t most_at_once() const { return UINT64_MAX; }

  /// Most items that may be begun and not over on one worker.
  virtual uint32_t most_resident() const { return 1; }

  /// True once the work is given up: items that have not begun are skipped, others end where they next wait.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void fail() { failed_.store(true, std::memory_order_release); }

  /// Runs an item on `worker`; `self` is this. False when the item has begun and is not over: the worker keeps it.
  virtual bool run(Worker& worker, const std::shared_ptr<Work>& self, uint64_t item) = 0;

 private:
  friend class WorkerPool;
  const uint64_t count_;
  const std::shared_ptr<CpuDomain> domain_;
  uint64_t next_ = 0;  ///< under the pool's lock
  std::atomic<uint64_t> unfinished_;
  std::atomic<bool> failed_{false};
  std::function<void()> done_;
};

}  // namespace cupola::cpu
