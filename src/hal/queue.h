#pragma once

#include <memory>

#include "base/result.h"
#include "hal/command.h"

namespace cupola::hal {

/// Commands in order. Commands of different queues may run at the same time. Any thread; commands submitted by several
/// threads are ordered as they arrive. Destroying a queue lets what was submitted run to its end first.
class Queue {
 public:
  virtual ~Queue() = default;

  /// Appends a command and returns its number: 1 for the first, growing by 1. The command is checked by the caller.
  /// Starts nothing and completes nothing on this thread, so the caller may hold any lock; start() must follow.
  virtual uint64_t enqueue(Command command) = 0;

  /// Sees to it that what was enqueued runs. Commands that are done at once complete on this thread: what waits for
  /// them with Semaphore::when is called here, so the caller holds no lock that such a function may take.
  virtual void start() = 0;

  /// enqueue() and start(), with the rule of start().
  uint64_t submit(Command command) {
    const uint64_t number = enqueue(std::move(command));
    start();
    return number;
  }

  /// Reaches a command's number when that command and all before it are done. After a fault of the queue's domain it
  /// goes on growing, while commands are dropped unexecuted, all but Callback.
  virtual const std::shared_ptr<Semaphore>& progress() const = 0;
};

}  // namespace cupola::hal
