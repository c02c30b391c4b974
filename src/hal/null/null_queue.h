#pragma once

#include <deque>
#include <thread>

#include "hal/null/null_semaphore.h"
#include "hal/queue.h"

namespace cupola::hal {

/// One thread that executes commands in order. It starts with the queue and ends with it.
class NullQueue final : public Queue {
 public:
  explicit NullQueue(std::shared_ptr<NullDomain> domain);
  ~NullQueue() override;

  using Queue::enqueue;
  uint64_t enqueue(std::span<Command> commands) override EXCLUDES(mutex_);
  void start() override EXCLUDES(mutex_);
  const std::shared_ptr<Semaphore>& progress() const override { return progress_; }

 private:
  void run() EXCLUDES(mutex_);
  void execute(Command& command);

  const std::shared_ptr<NullDomain> domain_;
  const std::shared_ptr<Semaphore> progress_;
  Mutex mutex_;
  Condition changed_;
  std::deque<Command> commands_ GUARDED_BY(mutex_);
  uint64_t submitted_ GUARDED_BY(mutex_) = 0;
  uint64_t started_ GUARDED_BY(mutex_) = 0;  ///< commands beyond it stay where they are, as on any device
  bool ending_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace cupola::hal
