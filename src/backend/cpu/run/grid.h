#pragma once

#include <atomic>
#include <memory>

#include "backend/cpu/run/cpu_executable.h"
#include "backend/cpu/run/device_queues.h"
#include "backend/cpu/run/work.h"
#include "base/mutex.h"
#include "hal/command.h"

namespace cupola::cpu {

/// A launch in progress; its items are its blocks, x fastest.
class Grid final : public Work {
 public:
  /// `code`: the kernel's, for such blocks. `launch` stays where it is until the work is done, and `services` until the
  /// grid is. With a depth, it was launched by a kernel and has a slot of the domain.
  Grid(const hal::Launch& launch, const KernelCode& code, const QueueServices& services, CpuDomain& domain,
       Owner& owner, uint32_t depth);
  ~Grid();

  const hal::Launch& launch() const { return launch_; }
  /// For blocks that begin now.
  const KernelCode& code() const;
  const hal::KernelInfo& info() const { return *info_; }
  std::byte* module_data() const { return module_data_; }
  uint64_t id() const { return id_; }

  bool one_at_a_time() const override { return one_at_a_time_; }
  uint32_t most_resident() const override { return most_resident_; }
  bool may_help() const override { return !one_at_a_time_; }
  bool is_short() const override { return is_short_; }
  Ran run(Worker& worker, uint64_t first, uint64_t most) override;

  // -- what its kernel launches --

  /// Made at the first call. Any thread. May throw std::bad_alloc.
  DeviceQueues& device_queues();

  /// All blocks are over. True when so is all that they launched; else `owner` hears of it.
  bool end(DeviceQueues::Owner& owner);

  // -- the barrier over the grid: blocks that are over do not count. Any thread. --

  /// All threads of a block wait; go on when grid_phase() is no longer the answer.
  uint64_t arrive_at_grid_barrier();
  void leave_grid_barrier();  ///< a block is over
  uint64_t grid_phase() const { return phase_.load(std::memory_order_acquire); }

 private:
  void complete_if_all_arrived() REQUIRES(mutex_);

  const hal::Launch& launch_;
  const QueueServices& services_;
  const KernelCode& code_;
  const hal::KernelInfo* info_;
  std::byte* const module_data_;
  const uint64_t id_;
  const uint32_t depth_;
  const bool is_short_;
  const bool one_at_a_time_;
  const uint32_t most_resident_;

  std::atomic<bool> has_slot_;  ///< until a block begins

  Mutex mutex_;
  std::unique_ptr<DeviceQueues> device_queues_ GUARDED_BY(mutex_);
  uint64_t live_ GUARDED_BY(mutex_);
  uint64_t arrived_ GUARDED_BY(mutex_) = 0;
  std::atomic<uint64_t> phase_{0};
};

}  // namespace cupola::cpu
