#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hal/command.h"
#include "hal/device.h"

// Streams and graphs that wait for values in memory and write them: "CUDA Driver API, Stream Memory Operations".
// Anybody may write a value, other processes too, so one thread of the process looks at all of them again and again,
// first often and then less; no worker waits.

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

/// One operation on memory.
struct MemoryOp {
  enum class Kind {
    Wait,     ///< until the memory holds such a value
    Write,    ///< 4 or 8 bytes at once
    Barrier,  ///< nothing to do: what is done in a stream is seen by what comes after
  };
  Kind kind = Kind::Wait;
  hal::Address address = 0;
  uint64_t value = 0;
  unsigned bytes = 0;
  unsigned flags = 0;  ///< as given
  Comparison comparison = Comparison::GreaterOrEqual;
};

/// The commands that do it, each for one run only: a wait holds the queue back, from where it gets to this point on.
/// Errors: InvalidValue for memory that the API does not know or a misaligned address; start_watch()'s.
Result<> append_commands(hal::Device& device, const MemoryOp& op, std::vector<hal::Command>& commands);

/// Starts the thread that looks, unless it runs. Error: OperatingSystem when the process may have no more threads. Any
/// thread.
Result<> start_watch();

/// Calls `met` again and again, on the thread that looks, which start_watch() has started; once it is true, signals 1.
/// Ends without when nobody else has the semaphore any more. Any thread, also in what a semaphore calls.
void watch(std::function<bool()> met, std::shared_ptr<hal::Semaphore> then);

}  // namespace cupola::runtime
