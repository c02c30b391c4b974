#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "hal/semaphore.h"
#include "runtime/stream.h"

// Streams that wait for a value in memory: "CUDA Driver API, Stream Memory Operations". Anybody may write the value, so
// one thread of the process looks at all of them again and again, first often and then less; no worker waits.

namespace cupola::runtime {

/// How a value in memory is compared, by CUDA's numbers: CUstreamWaitValue_flags without the flush bit.
enum class Comparison { GreaterOrEqual = 0, Equal = 1, And = 2, Nor = 3 };

struct AwaitedValue {
  hal::Address address;
  uint64_t value;
  unsigned bytes;  ///< 4 or 8; the address is a multiple of it
  Comparison comparison;
  std::shared_ptr<const void> owner = nullptr;  ///< what the memory belongs to, if it has to be kept

  /// True when memory holds such a value now, and also when the memory is gone, which is said in a line.
  bool met() const;
};

/// Holds the stream back, from where it gets to this point on, until the memory holds the value. Errors: InvalidValue
/// for memory that the API does not know or a misaligned address.
Result<> wait_for_value(Stream& stream, AwaitedValue awaited);

/// Writes the value, of 4 or 8 bytes at once, when the stream gets there. Errors: as wait_for_value.
Result<> write_value(Stream& stream, hal::Address address, uint64_t value, unsigned bytes);

}  // namespace cupola::runtime
