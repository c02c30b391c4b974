#pragma once

#include <atomic>
#include <memory>

#include "backend/cpu/run/worker_pool.h"
#include "hal/device.h"
#include "hal/queue.h"

namespace cupola::cpu {

struct CpuDomain;

/// Counts the queues that ended before their commands. Any thread.
class BusyQueues {
 public:
  void enter() { count_.fetch_add(1, std::memory_order_relaxed); }
  void leave() {
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == 1) count_.notify_all();
  }
  void wait_until_none() const {
    while (const uint32_t count = count_.load(std::memory_order_acquire)) count_.wait(count);
  }

 private:
  std::atomic<uint32_t> count_{0};
};

/// What queues use of their device; it outlives them and their commands.
struct QueueServices {
  WorkerPool& pool;
  BusyQueues& busy;
  const hal::Device& device;
  uint32_t (*most_resident)(uint32_t block_threads);  ///< blocks of a grid that one worker keeps, at least 2
};

/// The head command is with the pool, the host-call thread or a semaphore; its end starts the next, on whatever thread
/// that is.
class CpuQueue final : public hal::Queue {
 public:
  /// Counts what is done.
  class Listener {
   public:
    /// A command is done or dropped. Without a lock; the queue may end here.
    virtual void command_done() = 0;

   protected:
    ~Listener() = default;
  };

  CpuQueue(const QueueServices& services, std::shared_ptr<CpuDomain> domain)
      : CpuQueue(services, std::move(domain), 0, nullptr) {}

  /// A queue for the launches of a kernel; `depth` of the host's is 0, and that of what a grid launches 1 more than the
  /// grid's. Each launch has a slot of the domain. Its start() touches no memory of kernels, so they may call it.
  CpuQueue(const QueueServices& services, std::shared_ptr<CpuDomain> domain, uint32_t depth, Listener* listener);
  ~CpuQueue() override;

  using Queue::enqueue;
  uint64_t enqueue(std::span<hal::Command> commands) override;
  void start() override;
  const std::shared_ptr<hal::Semaphore>& progress() const override;

 private:
  class State;
  const std::shared_ptr<State> state_;  ///< lives on until the last command is done
};

}  // namespace cupola::cpu
