#pragma once

#include <memory>
#include <vector>

#include "backend/cpu/run/block.h"
#include "backend/cpu/run/device_output.h"
#include "backend/cpu/run/fibre_runner.h"
#include "backend/cpu/run/grid.h"
#include "backend/cpu/run/shared_windows.h"
#include "backend/cpu/run/worker_pool.h"

namespace cupola::cpu {

/// What of the device its workers use.
struct ExecutionEnvironment {
  DeviceOutput output;
};

/// One thread of the pool. Holds the blocks that have begun here and wait for something outside: they are resumed in
/// turn, while other blocks begin in between. Used by its own thread only.
class Worker {
 public:
  Worker(WorkerPool& pool, ExecutionEnvironment& environment, uint32_t index);
  ~Worker();

  /// Until the pool stops.
  void loop();

  /// True if another item of the work may begin here.
  bool may_begin(const Work& work) const;

  /// Runs a block until it is over (true) or waits for something outside of it (false).
  bool run_block(const std::shared_ptr<Grid>& grid, uint64_t index);

  /// Calls `function(argument)` on a fibre, where a fault becomes the error.
  Result<> run_guarded(void (*function)(void*), void* argument);

  uint32_t index() const { return index_; }
  uint32_t pool_size() const { return pool_.size(); }  ///< workers of the device
  ExecutionEnvironment& environment() { return environment_; }
  FibreRunner& fibres() { return fibres_; }
  StackPool& stacks() { return stacks_; }
  SharedWindows& windows() { return windows_; }

 private:
  struct Resident {
    std::shared_ptr<Grid> grid;
    std::unique_ptr<Block> block;
  };

  bool resume_residents();
  bool begin_next();
  void run_range(Range& range);
  void rest(uint64_t seen);

  WorkerPool& pool_;
  ExecutionEnvironment& environment_;
  const uint32_t index_;
  FibreRunner fibres_;
  StackPool stacks_;
  SharedWindows windows_;
  std::vector<Resident> residents_;
  std::vector<Range> pending_;  ///< ranges begun here whose next blocks must wait, or have not had their turn
  std::vector<std::unique_ptr<Block>> spare_blocks_;
  uint32_t idle_rounds_ = 0;
};

}  // namespace cupola::cpu
