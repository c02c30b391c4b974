#pragma once

#include <memory>

#include "hal/device.h"

namespace cupola::metal {

/// The system's GPU through Metal; on other systems than macOS the software Metal. Starts no thread. Error: NoDevice,
/// saying what is missing; OutOfMemory.
Result<std::unique_ptr<hal::Device>> make_metal_device();

}  // namespace cupola::metal
