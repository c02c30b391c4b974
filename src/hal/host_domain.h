#pragma once

#include "hal/domain.h"
#include "hal/host_state.h"

namespace cupola::hal {

/// Of a device whose kernels neither allocate nor launch nor ask for facts.
class HostDomain final : public Domain {
 public:
  explicit HostDomain(HostState& state) : state(state) {}

  std::optional<Error> fault() const override {
    Lock lock(state.mutex);
    return error;
  }
  void clear_fault() override {
    Lock lock(state.mutex);
    error.reset();
  }

  void limit_heap(uint64_t) override {}
  void clear_heap() override {}
  void limit_pending_launches(uint64_t) override {}
  void set_facts(std::shared_ptr<const void>) override {}

  HostState& state;
  std::optional<Error> error GUARDED_BY(state.mutex);
};

}  // namespace cupola::hal
