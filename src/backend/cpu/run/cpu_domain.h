#pragma once

#include "backend/cpu/run/device_fault.h"
#include "hal/domain.h"

namespace cupola::cpu {

/// Any thread.
struct CpuDomain final : hal::Domain {
  std::optional<Error> fault() const override { return faults.get(); }
  void clear_fault() override { faults.clear(); }

  DeviceFault faults;
};

}  // namespace cupola::cpu
