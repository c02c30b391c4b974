#include "runtime/backends.h"

#include "backend/cpu/run/cpu_device.h"
#include "hal/null/null_device.h"

// The one place that names back-ends.

namespace cupola::runtime {

Result<std::vector<std::unique_ptr<hal::Device>>> make_devices(const std::string& backend) {
  std::vector<std::unique_ptr<hal::Device>> devices;
  if (backend == "cpu") {
    devices.push_back(cpu::make_cpu_device());
  } else if (backend == "null") {
    devices.push_back(hal::make_null_device());
  } else {
    return fail(ErrorCode::NoDevice, "CUPOLA_DEVICE is '{}'; it may be cpu or null", backend);
  }
  return devices;
}

}  // namespace cupola::runtime
