#pragma once

#include <functional>
#include <thread>

#include "hal/host_semaphore.h"
#include "hal/queue.h"

namespace cupola::hal {

/// A queue of a device whose memory is the host's: one thread that executes commands in order. It starts with the queue
/// and ends with it; when the queue goes on that thread, because a function that it called held the last reference,
/// right after it.
class HostQueue final : public Queue {
 public:
  /// Runs a grid on the queue's thread, and returns when it is done; an error becomes the domain's fault.
  using RunGrid = std::function<Result<>(const Launch& launch)>;

  HostQueue(std::shared_ptr<HostDomain> domain, RunGrid run_grid);
  ~HostQueue() override;

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
