#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "../driver_device.h"
#include "cases.h"

namespace cupola::ptxtest {

/// One device, through the driver API alone: NVIDIA's driver when golden data is taken, Cupola's when it is checked. A
/// failing call leaves its message in `error` and returns false or nothing.
class Device : public DriverDevice {
 public:
  /// Loads a module made from `cases`; its kernels run until the next load.
  bool load(std::span<const Case* const> cases);
  /// Executes kernel `number` of the module: `set_count` sets of the case's inputs, 64 bits an operand; the outputs
  /// come back likewise.
  bool run(const Case& of, size_t number, std::span<const uint64_t> inputs, unsigned set_count,
           std::vector<uint64_t>& outputs);
  std::string name() const;

 private:
  CUdeviceptr buffer(size_t index, size_t bytes);

  struct Buffer {
    CUdeviceptr address = 0;
    size_t bytes = 0;
  };
  Buffer buffers_[3];
};

}  // namespace cupola::ptxtest
