#pragma once

#include <atomic>
#include <cstdint>

#include "hal/host_state.h"

namespace cupola::metal {

struct MetalState : hal::HostState {
  std::atomic<uint64_t> launches = 0;  ///< numbers grids
};

}  // namespace cupola::metal
