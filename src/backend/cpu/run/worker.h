#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "backend/cpu/run/block.h"
#include "backend/cpu/run/cores.h"
#include "backend/cpu/run/fibre_runner.h"
#include "backend/cpu/run/grid.h"
#include "backend/cpu/run/shared_windows.h"
#include "backend/cpu/run/spin.h"
#include "backend/cpu/run/worker_pool.h"
#include "base/wait_word.h"
#include "hal/device_output.h"

namespace cupola::cpu {

/// What of the device its workers use.
struct ExecutionEnvironment {
  hal::DeviceOutput output;
};

/// What executes the blocks of one multiprocessor: a thread of the pool, or while that sleeps a host thread in its
/// place. One more runs short works, as the first multiprocessor, on the threads that bring them. Holds the blocks that
/// have begun here and wait for something outside: they are resumed in turn, while other blocks begin in between. Used
/// by one thread at a time, which has an OnThread.
class Worker {
 public:
  class OnThread {
   public:
    explicit OnThread(Worker& worker);
    ~OnThread();
    OnThread(const OnThread&) = delete;
    OnThread& operator=(const OnThread&) = delete;

   private:
    const FibreRunner::OnThread fibres_;
  };

  Worker(WorkerPool& pool, ExecutionEnvironment& environment, uint32_t index);
  ~Worker();

  /// The pool's thread: until the pool stops.
  void loop();

  /// A host thread: until all items of the range are over, and with it has_nothing() again.
  void run_to_end(Range& range);

  /// Any thread that has no worker: all items of a work that is short, which is not the pool's.
  void run_all(Work& work);

  /// True if another item of the work may begin here.
  bool may_begin(const Work& work) const;

  /// True when nothing is begun or pending here.
  bool has_nothing() const { return residents_.empty() && pending_.empty(); }

  /// True on a thread that has a worker of the pool and will ask for this work next.
  static bool this_thread_will_look(const WorkerPool& pool, const Work& work);

  /// Runs blocks from `first` on until they are over, or one until it waits for something outside of it. Where memory
  /// is short (std::bad_alloc) none of them is left.
  Work::Ran run_blocks(Grid& grid, uint64_t first, uint64_t most);

  // -- for the pool --
  WaitWord& word() { return word_; }
  Cores::Sleeper& sleeper() { return sleeper_; }
  SpinBudget& spin_budget() { return spin_budget_; }

  uint32_t index() const { return index_; }
  uint32_t pool_size() const { return pool_.size(); }  ///< workers of the device
  ExecutionEnvironment& environment() { return environment_; }
  FibreRunner& fibres() { return fibres_; }
  StackPool& stacks() { return stacks_; }
  SharedWindows& windows() { return windows_; }

 private:
  struct Resident {
    Grid* grid;
    std::unique_ptr<Block> block;
  };

  friend class WorkerPool;
  friend class SleepingWorkers;

  bool resume_residents();
  bool begin_next();
  bool continue_pending();
  void run_range(Range& range);
  Work::Ran run_or_fault(Work& work, uint64_t first, uint64_t most);
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
  bool in_item_ = false;
  const Work::Owner* helped_ = nullptr;  ///< while a host thread has the worker's place: whose works it takes
  std::optional<OnCore> core_;           ///< while its thread has something to do
  WaitWord word_;
  std::atomic<uint64_t> woken_at_{0};  ///< by the steady clock: when someone last woke it
  Cores::Sleeper sleeper_;
  SpinBudget spin_budget_{200'000};
  uint32_t left_ = 0;               ///< times in a row that others had all done when it looked
  std::atomic<bool> looks_{false};  ///< changes under the pool's lock
  // Under the pool's lock.
  bool may_spin_ = true;  ///< before it parks: others look, or it is not the last that would
  uint64_t took_ = 0;     ///< the work of which it took items last
  Worker* next_sleeping_ = nullptr;
};

}  // namespace cupola::cpu
