#pragma once

#include "backend/metal/host/arena.h"
#include "backend/metal/host/metal.h"
#include "backend/metal/host/metal_state.h"
#include "hal/device_output.h"
#include "hal/types.h"
#include "image/cache.h"

namespace cupola::metal {

/// What the nouns need of their device, which outlives them.
struct MetalServices {
  const Metal& metal;
  Id device;
  const hal::DeviceProperties& properties;
  uint32_t msl_version;  ///< the newest that this system's Metal takes: 30 is 3.0
  Arena& arena;
  MetalState& state;
  const std::byte* locks;  ///< kLocks words in the arena, which all kernels of the device share
  hal::DeviceOutput& output;
  image::DiskCache& cache;  ///< of pipelines
};

}  // namespace cupola::metal
