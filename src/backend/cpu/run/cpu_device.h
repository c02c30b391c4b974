#pragma once

#include <memory>

#include "hal/device.h"

namespace cupola::cpu {

/// The machine's processor as a device: kernels run on a pool of CUPOLA_WORKERS threads, each CUDA thread as a fibre.
/// Threads start with the first command, so a device that is only asked for its properties costs none. Destroying the
/// device waits for the commands of its queues; a process may also end without destroying it.
std::unique_ptr<hal::Device> make_cpu_device();

}  // namespace cupola::cpu
