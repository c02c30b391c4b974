#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace cupola {

/// The shape of a grid in blocks or of a block in threads.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(const Dim3&, const Dim3&) = default;
};

/// What a kernel needs and takes, as its image's manifest says.
struct KernelInfo {
  struct Parameter {
    uint32_t offset;  ///< in the parameter block, bytes
    uint32_t size;    ///< bytes
  };
  std::string name;  ///< mangled, as in the image
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;  ///< size of the parameter block
  uint32_t static_shared_bytes = 0;
  uint32_t constant_bytes = 0;            ///< of its module's __constant__ variables
  uint32_t local_bytes = 0;               ///< a thread's stack that is known at compile time
  uint32_t max_threads_per_block = 1024;  ///< from __launch_bounds__, or the device's
  Dim3 required_block{0, 0, 0};           ///< from .reqntid; zeros when free
  uint32_t registers = 0;                 ///< an estimate, for cudaFuncGetAttributes
};

}  // namespace cupola
