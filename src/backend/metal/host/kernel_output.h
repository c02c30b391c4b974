#pragma once

#include "backend/metal/host/arena.h"
#include "hal/device_output.h"

namespace cupola::metal {

/// The buffer in the arena that the kernels of one queue print into; image/metal_abi.h says how. One thread at a time.
class KernelOutput {
 public:
  static constexpr uint64_t kBytes = 1 << 20;  ///< as CUDA's, unless a program asks for more

  /// Error: OutOfMemory.
  static Result<KernelOutput> make(Arena& arena);

  const std::byte* header() const { return part_.address(); }

  /// Takes what a grid that is done has printed.
  void read(hal::DeviceOutput& output);

 private:
  explicit KernelOutput(ArenaPart part);

  ArenaPart part_;
};

}  // namespace cupola::metal
