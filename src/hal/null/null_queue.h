#pragma once

#include <thread>

#include "hal/null/null_semaphore.h"
#include "hal/queue.h"

namespace cupola::hal {

/// One thread that executes commands in order. It starts with the queue and ends with it; when the queue goes on that
/// thread, because a function that it called held the last reference, right after it.
class NullQueue final : public Queue {
 public:
  explicit NullQueue(std::shared_ptr<NullDomain> domain);
  ~NullQueue() override;

  using Queue::enqueue;
  uint64_t enqueue(std::span<Command> commands) override;
  void start() override;
  const std::shared_ptr<Semaphore>& progress() const override;

 private:
  struct State;
  const std::shared_ptr<State> state_;  ///< the thread's too
  std::thread thread_;
};

}  // namespace cupola::hal
