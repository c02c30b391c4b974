#include "runtime/backends.h"

#include <functional>

#include "backend/cpu/run/cpu_device.h"
#include "backend/metal/host/metal_device.h"
#include "base/settings.h"
#include "hal/null/null_device.h"

// The one place that names back-ends.

namespace cupola::runtime {

Result<std::vector<std::unique_ptr<hal::Device>>> make_devices(const std::string& backend) {
  std::function<Result<std::unique_ptr<hal::Device>>()> make;
  if (backend == "cpu")
    make = cpu::make_cpu_device;
  else if (backend == "metal")
    make = metal::make_metal_device;
  else if (backend == "null")
    make = hal::make_null_device;
  else
    return fail(ErrorCode::NoDevice, "CUPOLA_DEVICE is '{}'; it may be cpu, metal or null", backend);
  std::vector<std::unique_ptr<hal::Device>> devices;
  for (int64_t i = 0; i < settings().device_count; ++i) {
    TRY(devices.emplace_back(), make());
  }
  return devices;
}

}  // namespace cupola::runtime
