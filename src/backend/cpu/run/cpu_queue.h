#pragma once

#include <memory>

#include "backend/cpu/run/host_calls.h"
#include "backend/cpu/run/worker_pool.h"
#include "hal/queue.h"

namespace cupola::cpu {

struct CpuDomain;

/// Counts the queues that have commands to do. Any thread.
class BusyQueues {
 public:
  void enter();
  void leave();
  void wait_until_none();

 private:
  Mutex mutex_;
  Condition none_;
  uint64_t count_ GUARDED_BY(mutex_) = 0;
};

/// What queues use of their device; it outlives them and their commands.
struct QueueServices {
  WorkerPool& pool;
  HostCalls& host_calls;
  BusyQueues& busy;
  uint32_t (*most_resident)(uint32_t block_threads);  ///< blocks of a grid that one worker keeps, at least 2
};

/// The head command is with the pool, the host-call thread or a semaphore; its end starts the next, on whatever thread
/// that is.
class CpuQueue final : public hal::Queue {
 public:
  CpuQueue(const QueueServices& services, std::shared_ptr<CpuDomain> domain);

  uint64_t enqueue(hal::Command command) override;
  void start() override;
  const std::shared_ptr<hal::Semaphore>& progress() const override;

 private:
  class State;
  const std::shared_ptr<State> state_;  ///< lives on until the last command is done
};

}  // namespace cupola::cpu
