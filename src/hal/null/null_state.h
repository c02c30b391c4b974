#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::hal {

/// What the device's nouns share: how much is backed; its sticky fault, and one lock and one condition for that and for
/// every semaphore, so that whoever waits hears of either.
struct NullState {
  const uint64_t memory_bytes;
  std::atomic<uint64_t> backed_bytes = 0;

  Mutex mutex;
  Condition changed;
  std::optional<Error> fault GUARDED_BY(mutex);
};

}  // namespace cupola::hal
