#include "runtime/machine_devices.h"

#include "base/settings.h"
#include "runtime/backends.h"

namespace cupola::runtime {

Result<std::span<const std::unique_ptr<hal::Device>>> machine_devices() {
  static const auto* const devices =
      new Result(make_devices(settings().device));  // leaked: used until the process ends
  if (!*devices) return fail(devices->error());
  return **devices;
}

}  // namespace cupola::runtime
