#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "backend/cpu/run/work.h"
#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

class Worker;
struct ExecutionEnvironment;

/// A contiguous run of items of one work.
struct Range {
  std::shared_ptr<Work> work;
  uint64_t begin = 0, end = 0;
};

/// The threads of a device. They start when there is work for them, named "cupola-0" and so on, with all signals but
/// the synchronous ones blocked. Several works are spread at once, in turn; within one, items start in increasing
/// order, in ranges that shrink towards the end. Any thread.
class WorkerPool {
 public:
  WorkerPool(uint32_t workers, ExecutionEnvironment& environment);

  /// Waits for the works that were submitted, then ends the threads.
  ~WorkerPool();

  uint32_t size() const { return workers_wanted_; }

  /// `work->done` is called once on a worker, when all items are over; for a work without items, here. When the system
  /// gives fewer threads than wanted, those that there are do it; when it gives none, the work's domain has a fault.
  void submit(std::shared_ptr<Work> work);

  /// Gives all works of the domain up.
  void fail_all(const CpuDomain& domain);

  // -- for workers --

  /// A number that changes when there may be something new to do.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  void bump();

  /// The next items that `worker` may begin; false if there are none now.
  bool take(const Worker& worker, Range& range);

  /// `items` of the work are over.
  void finish(const std::shared_ptr<Work>& work, uint64_t items);

  /// Sleeps until epoch() differs from `seen`; false when the thread is to end.
  bool park(uint64_t seen);

  /// Sleeps for a moment, unless epoch() differs from `seen`.
  void nap(uint64_t seen, uint32_t microseconds);

 private:
  Result<> start_threads(uint64_t wanted) REQUIRES(mutex_);

  const uint32_t workers_wanted_;
  ExecutionEnvironment& environment_;
  std::atomic<uint64_t> epoch_{0};
  Mutex mutex_;
  Condition changed_;
  Condition idle_;
  uint32_t sleepers_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  size_t turn_ GUARDED_BY(mutex_) = 0;
  std::vector<std::shared_ptr<Work>> active_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  uint32_t most_threads_ GUARDED_BY(mutex_);  ///< less than wanted once the system refused one
};

}  // namespace cupola::cpu
