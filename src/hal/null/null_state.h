#pragma once

#include <optional>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::hal {

/// What the device's nouns share: its sticky fault, and one lock and one condition for that and for every semaphore, so
/// that whoever waits hears of either.
struct NullState {
  Mutex mutex;
  Condition changed;
  std::optional<Error> fault GUARDED_BY(mutex);
};

}  // namespace cupola::hal
