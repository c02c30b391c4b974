#pragma once

#include <string>
#include <vector>

#include "../driver_device.h"
#include "rows.h"

namespace cupola::libdevicetest {

class Device : public DriverDevice {
 public:
  /// Kernels of these bytes, which cuModuleLoadData takes, until the next load.
  bool load(const std::string& image) { return load_image(image.data()); }
  /// Runs the row's kernel once for every set of inputs.
  bool run(const Row& row, std::span<const Slot> inputs, std::vector<Slot>& outputs);
};

}  // namespace cupola::libdevicetest
