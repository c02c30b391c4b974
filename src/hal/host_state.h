#pragma once

#include <atomic>
#include <cstdint>

#include "base/mutex.h"

namespace cupola::hal {

/// What the device's nouns share: how much is backed, and one lock and one condition for every semaphore and every
/// domain's fault, so that whoever waits hears of either.
struct HostState {
  const uint64_t memory_bytes;
  std::atomic<uint64_t> backed_bytes = 0;

  Mutex mutex;
  Condition changed;
  uint32_t staying GUARDED_BY(mutex) = 0;  ///< threads of queues that are gone

  /// A queue has gone before its thread, which needs the device still; and that thread is over.
  void stay() {
    Lock lock(mutex);
    ++staying;
  }
  void leave() {
    Lock lock(mutex);
    --staying;
    changed.notify_all();
  }
  /// Until no such thread is left: what a device does first when it goes. Not from such a thread.
  void await_threads() {
    Lock lock(mutex);
    while (staying != 0) changed.wait(lock);
  }
};

}  // namespace cupola::hal
