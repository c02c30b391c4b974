#pragma once

#include <map>

#include "hal/null/null_state.h"
#include "hal/semaphore.h"

namespace cupola::hal {

class NullSemaphore final : public Semaphore {
 public:
  NullSemaphore(NullState& state, uint64_t initial) : state_(state), value_(initial) {}

  uint64_t value() const override;
  void signal(uint64_t value) override;
  Result<> wait(uint64_t value) override;
  void when(uint64_t value, std::function<void()> then) override;

 private:
  NullState& state_;
  uint64_t value_ GUARDED_BY(state_.mutex);
  std::multimap<uint64_t, std::function<void()>> then_ GUARDED_BY(state_.mutex);
};

}  // namespace cupola::hal
