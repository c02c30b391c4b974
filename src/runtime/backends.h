#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "hal/device.h"

namespace cupola::runtime {

/// The devices of the back-end that CUPOLA_DEVICE names, as many as CUPOLA_DEVICE_COUNT says. Error: NoDevice for a
/// name that no back-end has.
Result<std::vector<std::unique_ptr<hal::Device>>> make_devices(const std::string& backend);

}  // namespace cupola::runtime
