#pragma once

#include <cuda.h>

#include <string>

namespace cupola {

/// One device, through the driver API alone, with its primary context and a module. A failing call leaves its message
/// in `error`.
class DriverDevice {
 public:
  ~DriverDevice();
  bool open();

  std::string error;

 protected:
  bool ok(CUresult result, const char* what);
  /// Loads what cuModuleLoadData takes, in place of the last module; the loader's log is in the message.
  bool load_image(const char* image);

  CUdevice device_ = 0;
  CUmodule module_ = nullptr;

 private:
  CUcontext context_ = nullptr;
};

}  // namespace cupola
