#pragma once

#include "hal/domain.h"
#include "hal/null/null_state.h"

namespace cupola::hal {

class NullDomain final : public Domain {
 public:
  explicit NullDomain(NullState& state) : state(state) {}

  std::optional<Error> fault() const override {
    Lock lock(state.mutex);
    return error;
  }
  void clear_fault() override {
    Lock lock(state.mutex);
    error.reset();
  }

  void limit_heap(uint64_t) override {}  // only kernels allocate
  void clear_heap() override {}
  void limit_pending_launches(uint64_t) override {}
  void set_facts(std::shared_ptr<const void>) override {}

  NullState& state;
  std::optional<Error> error GUARDED_BY(state.mutex);
};

}  // namespace cupola::hal
