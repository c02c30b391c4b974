#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <variant>

#include "hal/executable.h"
#include "hal/parameter_block.h"
#include "hal/semaphore.h"
#include "hal/types.h"

namespace cupola::hal {

/// Runs a grid. `parameters` is the whole parameter block, laid out as KernelInfo says.
struct Launch {
  std::shared_ptr<Executable> executable;
  uint32_t kernel = 0;
  Dim3 grid, block;
  uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;  ///< all blocks are resident at once, so grid-wide barriers work
  ParameterBlock parameters;
};

/// Copies a box of bytes: `depth` slices of `height` rows of `width` bytes. Source and destination may be any memory
/// that the device reaches, host memory included; they must not overlap.
struct Copy {
  Address destination = 0, source = 0;
  uint64_t width = 0, height = 1, depth = 1;
  uint64_t destination_pitch = 0, source_pitch = 0;  ///< bytes from row to row; unused when height and depth are 1
  uint64_t destination_slice = 0, source_slice = 0;  ///< bytes from slice to slice; unused when depth is 1
  std::shared_ptr<const void> destination_owner, source_owner;  ///< what must live until the copy is done; may be null
};

/// Writes `value` (1, 2 or 4 bytes wide) over `height` rows of `width` elements.
struct Fill {
  Address destination = 0;
  uint32_t value = 0;
  uint32_t value_bytes = 1;
  uint64_t width = 0, height = 1;
  uint64_t pitch = 0;                 ///< bytes from row to row; unused when height is 1
  std::shared_ptr<const void> owner;  ///< what must live until the fill is done; may be null
};

/// Calls a host function, on a thread of the device's own. It must not call the API (CUDA forbids it too).
struct HostCall {
  std::function<void()> function;
};

/// A HostCall that a fault does not drop: `error` is the fault of the queue's domain when the queue reaches the
/// command, null when there is none. Called exactly once; from a thread that drives the queue when the device's own
/// cannot start.
struct Callback {
  std::function<void(const Error* error)> function;
};

/// Holds the queue back until the semaphore reaches the value.
struct Wait {
  std::shared_ptr<Semaphore> semaphore;
  uint64_t value = 0;
};

/// Raises the semaphore once all earlier commands of the queue are done.
struct Signal {
  std::shared_ptr<Semaphore> semaphore;
  uint64_t value = 0;
};

/// Stores the time, in nanoseconds of a steady clock, at which the queue reached this command.
struct Timestamp {
  std::shared_ptr<std::atomic<uint64_t>> nanoseconds;
};

using Command = std::variant<Launch, Copy, Fill, HostCall, Callback, Wait, Signal, Timestamp>;

}  // namespace cupola::hal
