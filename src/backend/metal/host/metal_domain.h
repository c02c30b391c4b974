#pragma once

#include "backend/metal/host/metal_state.h"
#include "hal/domain.h"

namespace cupola::metal {

class MetalDomain final : public hal::Domain {
 public:
  explicit MetalDomain(MetalState& state) : state(state) {}

  std::optional<Error> fault() const override {
    Lock lock(state.mutex);
    return error;
  }
  void clear_fault() override {
    Lock lock(state.mutex);
    error.reset();
  }

  // Kernels that allocate, launch or ask for facts are refused when they are compiled.
  void limit_heap(uint64_t) override {}
  void clear_heap() override {}
  void limit_pending_launches(uint64_t) override {}
  void set_facts(std::shared_ptr<const void>) override {}

  MetalState& state;
  std::optional<Error> error GUARDED_BY(state.mutex);
};

}  // namespace cupola::metal
