#pragma once

#include <cuda.h>

#include <string>
#include <vector>

#include "rows.h"

namespace cupola::libdevicetest {

/// The device, through the driver API. A failing call leaves its message in `error`.
class Device {
 public:
  ~Device();
  bool open();
  /// Kernels of these bytes, which cuModuleLoadData takes, until the next load.
  bool load(const std::string& image);
  /// Runs the row's kernel once for every set of inputs.
  bool run(const Row& row, std::span<const Slot> inputs, std::vector<Slot>& outputs);

  std::string error;

 private:
  bool ok(CUresult result, const char* what);

  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace cupola::libdevicetest
