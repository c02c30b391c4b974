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
};

}  // namespace cupola::hal
