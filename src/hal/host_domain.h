#pragma once

#include <atomic>

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
  bool has_fault() const override { return faulted_.load(std::memory_order_acquire); }
  void clear_fault() override {
    Lock lock(state.mutex);
    error.reset();
    faulted_.store(false, std::memory_order_release);
  }

  /// The first error is the fault. Wakes whoever waits.
  void note(const Error& first) {
    Lock lock(state.mutex);
    if (!error) error = first;
    faulted_.store(true, std::memory_order_release);
    state.changed.notify_all();
  }

  void limit_heap(uint64_t) override {}
  void clear_heap() override {}
  void limit_pending_launches(uint64_t) override {}
  void set_facts(std::shared_ptr<const void>) override {}

  HostState& state;
  std::optional<Error> error GUARDED_BY(state.mutex);

 private:
  std::atomic<bool> faulted_ = false;  ///< there is an error, for those who need not know which
};

}  // namespace cupola::hal
