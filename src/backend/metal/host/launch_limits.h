#pragma once

#include "base/result.h"
#include "hal/command.h"

namespace cupola::metal {

/// Where dynamic shared memory begins behind so many bytes of static.
uint64_t dynamic_shared_at(uint64_t static_bytes);

/// Bytes of threadgroup memory that the launch takes for shared memory.
uint64_t shared_bytes_of(const hal::Launch& launch);

/// Whether Metal can run it, as far as that can be said beforehand. Errors name the kernel: InvalidValue,
/// LaunchOutOfResources.
Result<> check_limits(const hal::Launch& launch, const hal::DeviceProperties& properties);

}  // namespace cupola::metal
