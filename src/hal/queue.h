#pragma once

#include <memory>
#include <span>

#include "base/result.h"
#include "hal/command.h"

namespace cupola::hal {

/// Commands in order. Commands of different queues may run at the same time. Any thread; commands submitted by several
/// threads are ordered as they arrive. Destroying a queue lets what was submitted run to its end, and does not wait for
/// it.
class Queue {
 public:
  virtual ~Queue() = default;

  /// Appends commands with nothing in between, and returns the last one's number: the queue's first has 1, each later
  /// one 1 more. The commands are checked by the caller and moved from. Starts nothing and completes nothing on this
  /// thread, so the caller may hold any lock; start() must follow. When memory is short (std::bad_alloc) nothing was
  /// appended.
  virtual uint64_t enqueue(std::span<Command> commands) = 0;
  uint64_t enqueue(Command command) { return enqueue(std::span(&command, 1)); }

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
  /// goes on growing, while commands are dropped unexecuted, all but Callback, Signal and Timestamp.
  virtual const std::shared_ptr<Semaphore>& progress() const = 0;
};

}  // namespace cupola::hal
