#pragma once

#include <memory>
#include <span>

#include "backend/cpu/run/cpu_executable.h"

namespace cupola::cpu {

/// Loads a kernel image made for the device; `source` as hal::Device::load has it. Errors: InvalidImage,
/// NoBinaryForGpu, InvalidPtx for a kernel that no launch could run, and those of the loader.
Result<std::shared_ptr<CpuExecutable>> load_image(std::span<const std::byte> bytes, const hal::DeviceProperties& device,
                                                  hal::CodeSource source);

}  // namespace cupola::cpu
