#pragma once

#include <memory>
#include <thread>

#include "hal/host_semaphore.h"
#include "hal/queue.h"

namespace cupola::hal {

/// Runs the grids of one queue, on its thread, in their order. An error becomes the domain's fault.
class GridRunner {
 public:
  virtual ~GridRunner() = default;

  /// Whether begin() of the launch may come before those that have begun are done: as long as none of those may fail,
  /// for what follows a fault is dropped, and the runner has room. Not asked while none has.
  virtual bool may_follow(const Launch& launch) = 0;

  /// Begins the grid, or sees to all of it. The launch is moved from. After an error it has not begun.
  virtual Result<> begin(Launch& launch) = 0;

  /// Returns when the first grid that has begun is done.
  virtual Result<> end() = 0;
};

/// A queue of a device whose memory is the host's: one thread that executes commands in order, launches in a row as far
/// ahead as the runner lets it. It starts with the queue and ends with it; when the queue goes before its commands are
/// done, or on that thread, because a function that it called held the last reference, it ends after them, and the
/// device waits for that (HostState).
class HostQueue final : public Queue {
 public:
  HostQueue(std::shared_ptr<HostDomain> domain, std::unique_ptr<GridRunner> runner);
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
