#pragma once

#include <cstdint>
#include <functional>

#include "base/result.h"

namespace cupola::hal {

/// A timeline: a 64-bit value that only grows. Host and queues signal and wait. All members: any thread.
class Semaphore {
 public:
  virtual ~Semaphore() = default;

  virtual uint64_t value() const = 0;

  /// Raises the value to `value`; a lower one changes nothing. Calls what when() left here, on this thread: the caller
  /// holds no lock that such a function may take. Where such a function signals, what that reaches is called after it,
  /// before the outermost signal() returns: chains of any length do not nest.
  virtual void signal(uint64_t value) = 0;

  /// Blocks the calling host thread until the value is reached, or the semaphore's domain has a fault: then its error.
  /// A queue's progress belongs to the queue's domain. The thread may help meanwhile: run parts of kernels, complete
  /// commands, and call what when() left, here and elsewhere. So the caller holds no lock that such a function may
  /// take.
  virtual Result<> wait(uint64_t value) = 0;

  /// Calls `then` once when the value is reached: at once on this thread if it already is, else on the signalling
  /// thread as signal() says, without a lock of hal's. `then` must not block; it may take locks for a moment, submit to
  /// queues and signal.
  virtual void when(uint64_t value, std::function<void()> then) = 0;
};

}  // namespace cupola::hal
