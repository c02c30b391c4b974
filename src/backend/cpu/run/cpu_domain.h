#pragma once

#include "backend/cpu/run/device_fault.h"
#include "backend/cpu/run/device_heap.h"
#include "backend/cpu/run/host_calls.h"
#include "hal/domain.h"

namespace cupola::cpu {

/// Any thread.
struct CpuDomain final : hal::Domain {
  /// `memory_bytes`: the device's.
  explicit CpuDomain(uint64_t memory_bytes) : heap(memory_bytes) {}

  std::optional<Error> fault() const override { return faults.get(); }
  void clear_fault() override { faults.clear(); }

  void limit_heap(uint64_t bytes) override { heap.set_limit(bytes); }
  void clear_heap() override { heap.clear(); }

  DeviceFault faults;
  DeviceHeap heap;
  HostCalls host_calls;
};

}  // namespace cupola::cpu
