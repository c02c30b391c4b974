#pragma once

#include <map>
#include <memory>

#include "hal/host_domain.h"
#include "hal/semaphore.h"

namespace cupola::hal {

/// A timeline in the host's memory, of a device whose work the host does or watches over. Any thread, under the one
/// lock of the device's state; what when() left is called without it.
class HostSemaphore final : public Semaphore {
 public:
  HostSemaphore(std::shared_ptr<HostDomain> domain, uint64_t initial)
      : domain_(std::move(domain)), state_(domain_->state), value_(initial) {}

  uint64_t value() const override;
  void signal(uint64_t value) override;
  Result<> wait(uint64_t value) override { return wait(value, *domain_); }
  /// As wait(), but `domain` is whose fault ends it: that of the queue which waits.
  Result<> wait(uint64_t value, const HostDomain& domain);
  void when(uint64_t value, std::function<void()> then) override;

 private:
  const std::shared_ptr<HostDomain> domain_;
  HostState& state_;
  uint64_t value_ GUARDED_BY(state_.mutex);
  std::multimap<uint64_t, std::function<void()>> then_ GUARDED_BY(state_.mutex);
};

}  // namespace cupola::hal
