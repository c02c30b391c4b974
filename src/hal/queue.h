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
  virtual uint64_t submit(Command command) = 0;

  /// Reaches a command's number when that command and all before it are done. After a fault of the queue's domain it
  /// goes on growing, while commands are dropped unexecuted, all but Callback.
  virtual const std::shared_ptr<Semaphore>& progress() const = 0;
};

}  // namespace cupola::hal
