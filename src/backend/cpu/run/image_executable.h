#pragma once

#include <memory>
#include <span>

#include "backend/cpu/run/cpu_executable.h"

namespace cupola::cpu {

/// Loads a kernel image made for `target`. Errors: InvalidImage, NoBinaryForGpu, and those of the loader.
Result<std::shared_ptr<CpuExecutable>> load_image(std::span<const std::byte> bytes, std::string_view target);

}  // namespace cupola::cpu
