#pragma once

#include <atomic>
#include <memory>

#include "backend/cpu/run/device_fault.h"
#include "backend/cpu/run/device_heap.h"
#include "backend/cpu/run/host_calls.h"
#include "hal/domain.h"

namespace cupola::cpu {

/// Launches from kernels that have not begun. Any thread.
class LaunchSlots {
 public:
  void set_limit(uint64_t most) { limit_.store(most, std::memory_order_relaxed); }
  bool take() {
    if (taken_.fetch_add(1, std::memory_order_relaxed) < limit_.load(std::memory_order_relaxed)) return true;
    give_back();
    return false;
  }
  void give_back() { taken_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> taken_{0}, limit_{hal::Domain::kUsualPendingLaunches};
};

/// Any thread.
struct CpuDomain final : hal::Domain, std::enable_shared_from_this<CpuDomain> {
  /// `memory_bytes`: the device's.
  explicit CpuDomain(uint64_t memory_bytes) : heap(memory_bytes) {}

  std::optional<Error> fault() const override { return faults.get(); }
  bool has_fault() const override { return faults.any(); }
  void clear_fault() override { faults.clear(); }

  void limit_heap(uint64_t bytes) override { heap.set_limit(bytes); }
  void clear_heap() override { heap.clear(); }
  void limit_pending_launches(uint64_t most) override { launch_slots.set_limit(most); }
  void set_facts(std::shared_ptr<const void> known) override { facts = std::move(known); }

  DeviceFault faults;
  DeviceHeap heap;
  LaunchSlots launch_slots;
  std::shared_ptr<const void> facts;
  HostCalls host_calls;
  HostCalls compile_calls;  ///< launches whose code is to be made: they wait for no host function
};

}  // namespace cupola::cpu
