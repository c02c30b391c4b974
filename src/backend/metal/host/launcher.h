#pragma once

#include <deque>
#include <vector>

#include "backend/metal/host/kernel_output.h"
#include "backend/metal/host/metal_executable.h"
#include "hal/command.h"
#include "hal/host_queue.h"

namespace cupola::metal {

/// Runs the grids of one queue as command buffers of a MTLCommandQueue, which runs them in their order. Several are
/// committed before the first is done, as long as there is memory for their output, unless one may write a FaultRecord:
/// what follows a fault must not run. (What Metal itself ends, a page fault or a time-out, may be followed by those
/// that are committed.) One thread at a time.
class Launcher final : public hal::GridRunner {
 public:
  static constexpr size_t kMostInFlight = 8;  ///< command buffers; Metal has 64 of a queue

  /// Errors: OutOfMemory; DevicesUnavailable.
  static Result<std::unique_ptr<Launcher>> make(const MetalServices& services);

  bool may_follow(const hal::Launch& launch) override;

  /// A cooperative launch with grid-wide barriers is several of Metal's, and done when this returns. Errors, which name
  /// the kernel: what no launch may be, before it is one, and those of end().
  Result<> begin(hal::Launch& launch) override;

  /// Errors, which name the kernel: what Metal says of its end; a trap or assertion, with block and thread.
  Result<> end() override;

 private:
  /// What a command buffer has to itself until it is done.
  struct Room {
    ArenaPart faults;  ///< a FaultRecord
    KernelOutput output;
    ArenaPart parameters;  ///< where they are more than an encoder takes in place
  };
  struct InFlight {
    hal::Launch launch;
    Room room;
    Object command_buffer;  ///< none: it is done
  };
  /// A launch of Metal's, of a grid that may take several.
  struct Turn {
    uint64_t grid;           ///< the launch's number
    uint32_t number;         ///< of the grid's launches before
    const std::byte* saved;  ///< a SavedHeader and what follows it, or null
  };

  Launcher(const MetalServices& services, Object queue) : services_(services), queue_(std::move(queue)) {}
  Result<Room> take_room();
  bool has_room();
  Result<> commit(InFlight& grid, Id pipeline, const Turn& turn);
  Result<> run_turns(InFlight& grid, Id pipeline, uint64_t number);
  Result<> encode(InFlight& grid, Id command_buffer, Id pipeline, const Turn& turn);
  Result<> set_parameters(Id encoder, InFlight& grid);
  Result<> outcome(InFlight& grid);

  const MetalServices services_;
  const Object queue_;
  std::vector<Room> rooms_;  ///< that none has now
  std::deque<InFlight> in_flight_;
};

}  // namespace cupola::metal
