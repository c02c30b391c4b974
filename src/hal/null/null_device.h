#pragma once

#include <memory>

#include "hal/device.h"

namespace cupola::hal {

/// A device that copies, fills, calls the host and keeps time, but runs no kernels: load() is NotSupported. Its memory
/// is host memory, its queues are threads.
///
/// It is the skeleton of a new back-end: copy the folder, rename Null, make hal/cts pass, and replace one noun after
/// the other by what the device really does. Each noun is a file pair here as there.
std::unique_ptr<Device> make_null_device();

}  // namespace cupola::hal
