#pragma once

#include <memory>
#include <span>

#include "hal/device.h"

namespace cupola::runtime {

/// All devices of the machine, in their places, also those that CUDA_VISIBLE_DEVICES hides. The first call opens them,
/// which starts no thread, so that a process may fork afterwards and use them in its child; they are never closed.
/// Error: NoDevice. Any thread.
Result<std::span<const std::unique_ptr<hal::Device>>> machine_devices();

}  // namespace cupola::runtime
