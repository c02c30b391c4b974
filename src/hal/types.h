#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/kernel_info.h"

namespace cupola::hal {

/// An address as kernels see it. On the cpu device it is also a host address.
using Address = uint64_t;

using cupola::Dim3;
using cupola::KernelInfo;

/// Limits and facts of a device; the units are in the names. device.def in src/runtime derives CUDA's attributes from
/// it.
struct DeviceProperties {
  std::string name;          ///< for people: "Cupola CPU (AMD EPYC, 2 cores)"
  std::string image_target;  ///< what a kernel image must be made for; part of the cache key
  uint64_t memory_bytes = 0;
  uint32_t multiprocessors = 1;
  uint32_t warp_size = 32;
  uint32_t max_threads_per_block = 1024;
  uint32_t max_threads_per_multiprocessor = 2048;
  uint32_t max_blocks_per_multiprocessor = 32;
  Dim3 max_block{1024, 1024, 64};
  Dim3 max_grid{2147483647, 65535, 65535};
  uint32_t shared_bytes_per_block = 48 * 1024;         ///< without opting in
  uint32_t shared_bytes_per_block_optin = 227 * 1024;  ///< the most a launch may have, static and dynamic together
  uint32_t shared_multiple = 1;                        ///< a power of two: static and dynamic each take multiples of it
  uint32_t clock_khz = 0;
  uint32_t compute_capability_major = 8, compute_capability_minor = 9;
  bool unified_addressing = true;  ///< a pointer is the same for the host and for kernels
  bool pageable_memory = true;     ///< kernels reach all memory of the process; else only what the device gave

  /// The most bytes of dynamic shared memory beside the kernel's static ones, in `total` bytes of a block: one of the
  /// two above, or less.
  uint32_t dynamic_shared_beside(const KernelInfo& kernel, uint32_t total) const {
    const uint64_t low = shared_multiple - 1;
    const uint64_t room = total & ~low, taken = (kernel.static_shared_bytes + low) & ~low;
    return static_cast<uint32_t>(room > taken ? room - taken : 0);
  }
};

/// A __device__ or __constant__ variable of a loaded executable.
struct SymbolInfo {
  std::string name;
  Address address;
  uint64_t size;
  bool constant;
};

}  // namespace cupola::hal
