#pragma once

#include <memory>
#include <span>

#include "backend/cpu/run/cpu_executable.h"
#include "base/settings.h"

namespace cupola::cpu {

/// When hot code of kernels is made: what CUPOLA_HOT says.
struct HotPolicy {
  enum When { Never, Later, Now };
  When when = Later;
  /// Later: when first code has run for so long on all workers together, and as long as it took to be made.
  uint64_t least_nanoseconds = 1'000'000;

  static HotPolicy of(const Settings& settings);
};

/// Loads a kernel image made for the device; `source` as hal::Device::load has it. Errors: InvalidImage,
/// NoBinaryForGpu, InvalidPtx for a kernel that no launch could run, and those of the loader.
Result<std::shared_ptr<CpuExecutable>> load_image(std::span<const std::byte> bytes, const hal::DeviceProperties& device,
                                                  hal::CodeSource source, const HotPolicy& policy);

}  // namespace cupola::cpu
