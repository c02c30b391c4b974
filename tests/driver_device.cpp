#include "driver_device.h"

#include <algorithm>
#include <string_view>

#include "base/format.h"

namespace cupola {

DriverDevice::~DriverDevice() {
  if (context_) cuDevicePrimaryCtxRelease(device_);
}

bool DriverDevice::ok(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return true;
  const char* text = nullptr;
  cuGetErrorName(result, &text);
  error = formatted("{}: {}", what, text ? text : "unknown error");
  return false;
}

bool DriverDevice::open() {
  return ok(cuInit(0), "cuInit") && ok(cuDeviceGet(&device_, 0), "cuDeviceGet") &&
         ok(cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain") &&
         ok(cuCtxSetCurrent(context_), "cuCtxSetCurrent");
}

bool DriverDevice::load_image(const char* image) {
  if (module_) cuModuleUnload(module_);
  module_ = nullptr;
  char log[2048] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  if (ok(cuModuleLoadDataEx(&module_, image, 2, options, values), "cuModuleLoadDataEx")) return true;
  module_ = nullptr;
  log[sizeof log - 1] = 0;
  const std::string_view message(log);
  error += formatted(": {}", message.substr(0, std::min(message.find('\n'), size_t{200})));
  return false;
}

}  // namespace cupola
