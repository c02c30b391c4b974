#pragma once

#include "backend/metal/host/kernel_output.h"
#include "backend/metal/host/metal_executable.h"
#include "hal/command.h"

namespace cupola::metal {

/// Runs the grids of one queue, one after the other, in command buffers of a MTLCommandQueue. One thread at a time.
class Launcher {
 public:
  /// Errors: OutOfMemory; DevicesUnavailable.
  static Result<std::unique_ptr<Launcher>> make(const MetalServices& services);

  /// Returns when the grid is done: a cooperative one with grid-wide barriers after several launches. Errors, which
  /// name the kernel: what no launch may be, before it is one; what Metal says of its end; a trap or assertion, with
  /// block and thread.
  Result<> run(const hal::Launch& launch);

 private:
  Launcher(const MetalServices& services, Object queue, ArenaPart faults, KernelOutput output)
      : services_(services), queue_(std::move(queue)), faults_(std::move(faults)), output_(std::move(output)) {}
  /// A launch of Metal's, of a grid that may take several.
  struct Turn {
    uint64_t grid;           ///< the launch's number
    uint32_t number;         ///< of the grid's launches before
    const std::byte* saved;  ///< a SavedHeader and what follows it, or null
  };
  Result<> run(const hal::Launch& launch, Id pipeline, const Turn& turn);
  Result<> encode(const hal::Launch& launch, Id command_buffer, Id pipeline, const Turn& turn);
  Result<> set_parameters(Id encoder, const hal::ParameterBlock& parameters);
  Result<> outcome(const hal::Launch& launch, Id command_buffer);

  const MetalServices services_;
  const Object queue_;
  const ArenaPart faults_;  ///< a FaultRecord
  KernelOutput output_;
  ArenaPart parameters_;  ///< of the last launch with more than an encoder takes in place
};

}  // namespace cupola::metal
