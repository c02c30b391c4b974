#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "backend/cpu/run/cores.h"
#include "backend/cpu/run/spin.h"
#include "backend/cpu/run/work.h"
#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

class Worker;
struct ExecutionEnvironment;

/// A contiguous run of items of one work; empty when there is no work.
struct Range {
  Work* work = nullptr;
  uint64_t begin = 0, end = 0;
};

/// Workers that sleep. Under the pool's lock.
class SleepingWorkers {
 public:
  bool empty() const { return !first_; }
  bool has_one() const;
  const Worker* last() const { return first_; }  ///< who fell asleep last; null when there is none
  void push(Worker& worker);
  Worker* pop();  ///< the last one
  bool erase(const Worker& worker);

 private:
  Worker* first_ = nullptr;
};

/// The threads of a device. They start when there is work for them, named "cupola-0" and so on, with all signals but
/// the synchronous ones blocked. Several works are spread at once, in turn; within one, each core has a part of the
/// items, which start in increasing order, in ranges that shrink towards the end; who is done takes of the ends of
/// others' parts. Items that may wait for others start in increasing order over all. Any thread.
///
/// Whoever brings work wakes at most one worker, after the lock, and none while one looks for work already: a worker
/// that looks and finds wakes the next one if there is more.
class WorkerPool {
 public:
  WorkerPool(uint32_t workers, ExecutionEnvironment& environment);

  /// Waits for the works that were submitted, then ends the threads.
  ~WorkerPool();

  uint32_t size() const { return workers_wanted_; }

  /// When the system gives fewer threads than wanted, those that there are do the work. Error: OperatingSystem when it
  /// gives none; the work is not taken. A work whose domain has a fault is given up.
  Result<> submit(Work& work);

  /// Runs all of the work on the calling thread if it is short, the thread is a host's and none other does so now;
  /// else false. Then nobody refers to the work, and its owner is not told.
  bool run_here(Work& work);

  /// Gives all works of the domain up.
  void fail_all(const CpuDomain& domain);

  /// For a host thread that waits for works of the owner: while a worker sleeps, takes its place and runs items of such
  /// works, and looks for more, until `enough()` is true. False when none has come for a while.
  bool help(const Work::Owner& owner, const std::function<bool()>& enough, HostPatience& patience);

  /// The same once, without looking: until no items are left. False when there are none, or no worker sleeps.
  bool help_now(const Work::Owner& owner, const std::function<bool()>& enough);

  // -- for workers --

  /// A number that changes when there may be something new to do.
  uint64_t epoch() const { return epoch_.load(std::memory_order_acquire); }
  void bump();

  /// The next items that `worker` may begin; false if there are none now. A worker that has nothing else to do counts
  /// as looking from then on.
  bool take(Worker& worker, Range& range);

  /// `items` of the work are over.
  void finish(Work& work, uint64_t items);

  Cores& cores() { return cores_; }

  /// Sleeps until epoch() differs from `seen`; false when the thread is to end.
  bool park(Worker& worker, uint64_t seen);

  /// Sleeps for a moment, unless epoch() differs from `seen`.
  void nap(Worker& worker, uint64_t seen, uint32_t microseconds);

 private:
  Result<> start_threads(const Work& work) REQUIRES(mutex_);
  void hand_out(Work& work, const Worker& worker, Range& range) REQUIRES(mutex_);
  /// Whether the last worker that sleeps is woken too, or left to a host thread that is about to help.
  enum class Last : bool { NotYet, Too };
  Worker* worker_to_wake(Last last = Last::Too) REQUIRES(mutex_);
  bool has_place_for_host() const REQUIRES(mutex_);
  bool is_left_to_host(const Work& work) const REQUIRES(mutex_);
  bool has_place() EXCLUDES(mutex_);
  void host_looks_no_more() EXCLUDES(mutex_);
  /// Whether there is something to do beside what the waking thread may do itself.
  enum class Beside : bool { No, Yes };
  void wake(Worker* worker, Beside beside);
  bool hand_out_of(const Work::Owner& owner, const Worker& worker, Range& range) REQUIRES(mutex_);
  Worker* borrow(const Work::Owner& owner, Range& range);
  bool take_of(const Work::Owner& owner, const Worker& worker, Range& range);
  void give_back(Worker& worker);
  bool spin(Worker& worker, uint64_t seen);
  void leave_to_others(const Worker& worker);

  const uint32_t workers_wanted_;
  ExecutionEnvironment& environment_;
  Cores cores_;
  std::unique_ptr<Worker> of_hosts_;  ///< runs short works on the threads that bring them; who has taken it makes it
  std::atomic<bool> of_hosts_is_taken_{false};

  // What workers look at while they spin lies apart from what submitting changes.
  alignas(64) std::atomic<uint64_t> epoch_{0};
  alignas(64) std::atomic<uint32_t> open_count_{0};  ///< works in open_
  std::atomic<bool> hosts_help_{false};       ///< one tried to lately: it needs the place of a worker that sleeps
  std::atomic<uint32_t> hosts_awake_{0};      ///< that wait, and look for something to help with
  std::atomic<bool> submitter_looks_{false};  ///< for work: who brought the last one
  Mutex mutex_;
  Condition idle_;
  WorkList active_ GUARDED_BY(mutex_){0};    ///< works that are not done
  WorkList open_ GUARDED_BY(mutex_){1};      ///< those with items that no worker has
  Work* turn_ GUARDED_BY(mutex_) = nullptr;  ///< of open_: where the next look begins; null: at the first
  SleepingWorkers parked_ GUARDED_BY(mutex_), napping_ GUARDED_BY(mutex_);
  uint64_t submitted_ GUARDED_BY(mutex_) = 0;
  uint32_t looking_ GUARDED_BY(mutex_) = 0;   ///< workers that will look before they park
  uint32_t borrowed_ GUARDED_BY(mutex_) = 0;  ///< workers whose place a host thread has
  bool ending_ GUARDED_BY(mutex_) = false;    ///< the destructor waits for idle_
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::vector<std::unique_ptr<Worker>> workers_ GUARDED_BY(mutex_);
  std::vector<std::thread> threads_ GUARDED_BY(mutex_);
  uint32_t most_threads_ GUARDED_BY(mutex_);  ///< less than wanted once the system refused one
};

}  // namespace cupola::cpu
