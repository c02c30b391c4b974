#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"

namespace cupola::hal {

/// What one user of a device, a CUDA context, has to itself: queues belong to a domain and fail together. A kernel
/// error drops the commands of its domain; those of others run on. Queues keep their domain alive. Any thread.
class Domain {
 public:
  virtual ~Domain() = default;

  /// The first kernel error since the last clear_fault(); sticky, as CUDA's are.
  virtual std::optional<Error> fault() const = 0;

  /// Whether there is one.
  virtual bool has_fault() const { return fault().has_value(); }

  /// Makes the domain usable again. Its queues must have drained (progress at the last command), or what is left may
  /// run or fault.
  virtual void clear_fault() = 0;

  /// The most bytes that kernels may have allocated at a time, 8 MiB until this is called; more gives them null.
  virtual void limit_heap(uint64_t bytes) = 0;

  /// Frees what kernels allocated. The queues must have drained.
  virtual void clear_heap() = 0;

  /// The most launches from kernels that may wait to begin at a time; the next one fails.
  virtual void limit_pending_launches(uint64_t most) = 0;
  static constexpr uint64_t kUsualPendingLaunches = 2048;  ///< CUDA's default

  /// What kernels get from kir's cupola.device_facts, in the caller's form. Set before the first launch; what it holds
  /// may change later.
  virtual void set_facts(std::shared_ptr<const void> facts) = 0;
};

}  // namespace cupola::hal
