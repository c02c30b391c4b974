#include "backend/cpu/run/worker_pool.h"

#include <algorithm>
#include <utility>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/device_thread.h"
#include "backend/cpu/run/worker.h"
#include "base/fault_router.h"
#include "base/log.h"
#include "base/pause.h"
#include "base/steady_clock.h"

// Who sleeps and who wakes. A worker that finds nothing counts as looking; it parks only if the epoch is still what it
// was before it looked, and both are under the lock. So while one looks, whoever brings work need not wake another:
// that one will see it. A worker stops looking when it takes something; it wakes the next if more is left, so that all
// that are needed wake in turn, and those who bring work pay for one wake-up at most. Workers whose blocks wait for
// something nap instead, look every few microseconds, and are woken when no worker is parked.
//
// A host thread that waits takes the place of a worker that sleeps, and is on its core already; so that there is a
// place, all workers but one look for a while before they park, and where hosts helped lately the last one that sleeps
// is woken only when who took of a work takes of it again, or there are other works, or no host will come: the work was
// brought by a worker, that went on in its queue, and the hosts that wait for it are asleep.

namespace cupola::cpu {

namespace {

constexpr uint32_t kMostDoublings = 4;  // of the time that a worker leaves to others
constexpr uint32_t kMostVainLooks = 8;  // of a host thread, in a row, at works that it can do nothing for

/// A host thread: not on one that runs kernels already, nor where a kernel's fault would end the process.
bool may_run_kernels_here() {
  return !FibreRunner::runs_here() && FaultRouter::serves_this_thread();
}

}  // namespace

bool SleepingWorkers::has_one() const {
  return first_ && !first_->next_sleeping_;
}

void SleepingWorkers::push(Worker& worker) {
  worker.next_sleeping_ = first_;
  first_ = &worker;
}

Worker* SleepingWorkers::pop() {
  Worker* const worker = first_;
  if (worker) first_ = worker->next_sleeping_;
  return worker;
}

bool SleepingWorkers::erase(const Worker& worker) {
  for (Worker** each = &first_; *each; each = &(*each)->next_sleeping_) {
    if (*each != &worker) continue;
    *each = worker.next_sleeping_;
    return true;
  }
  return false;
}

WorkerPool::WorkerPool(uint32_t workers, ExecutionEnvironment& environment)
    : workers_wanted_(workers), environment_(environment), most_threads_(workers) {}

WorkerPool::~WorkerPool() {
  std::vector<std::thread> threads;
  {
    Lock lock(mutex_);
    ending_ = true;
    while (!active_.empty() || borrowed_ != 0) idle_.wait(lock);
    stopping_ = true;
    epoch_.fetch_add(1);
    threads.swap(threads_);
    while (Worker* worker = parked_.pop()) worker->word().raise(1);
    while (Worker* worker = napping_.pop()) worker->word().raise(1);
  }
  for (std::thread& thread : threads) thread.join();
}

Result<> WorkerPool::submit(Work& work) {
  Worker* woken = nullptr;
  const uint64_t count = work.count_;  // it may be over before the worker wakes up
  {
    Lock lock(mutex_);
    TRY(start_threads(work));
    // A fault that is recorded from here on finds the work in fail_all(); one that was before is seen here.
    if (work.domain().faults.any()) work.fail();
    if (!work.one_at_a_time()) work.items_.divide(most_threads_);
    work.number_ = ++submitted_;
    work.is_of_host_ = !is_device_thread();
    active_.push_back(work);
    open_.push_back(work);
    open_count_.fetch_add(1, std::memory_order_relaxed);
    epoch_.fetch_add(1, std::memory_order_release);
    const bool submitter_looks = Worker::this_thread_will_look(*this, work);
    submitter_looks_.store(submitter_looks, std::memory_order_relaxed);
    if (!submitter_looks) woken = worker_to_wake();
  }
  wake(woken, count > 1 ? Beside::Yes : Beside::No);
  return {};
}

bool WorkerPool::run_here(Work& work) {
  if (!work.is_short() || !may_run_kernels_here()) return false;
  if (of_hosts_is_taken_.exchange(true, std::memory_order_acquire)) return false;
  struct GiveBack {
    ~GiveBack() { taken.store(false, std::memory_order_release); }
    std::atomic<bool>& taken;
  } const after{of_hosts_is_taken_};
  if (!of_hosts_) of_hosts_ = std::make_unique<Worker>(*this, environment_, 0);
  of_hosts_->run_all(work);
  return true;
}

/// As many as there are items, with those of `work`; at least two, one of which may sleep and lend its place to a host
/// thread. Error: OperatingSystem when there is not one thread.
Result<> WorkerPool::start_threads(const Work& work) {
  if (threads_.size() >= most_threads_) return {};
  uint64_t wanted = std::clamp<uint64_t>(work.count_, 2, std::max(2u, workers_wanted_));
  for (const Work* each = active_.first(); each; each = active_.after(*each))
    wanted += std::min<uint64_t>(each->unfinished_.load(std::memory_order_relaxed), workers_wanted_);
  wanted = std::min<uint64_t>(wanted, most_threads_);
  while (threads_.size() < wanted) {
    const auto index = static_cast<uint32_t>(threads_.size());
    threads_.reserve(workers_wanted_);
    if (workers_.size() == index) workers_.push_back(std::make_unique<Worker>(*this, environment_, index));
    auto started =
        start_device_thread("cupola-" + std::to_string(index), [worker = workers_[index].get()] { worker->loop(); });
    if (!started && index == 0) return fail(std::move(started).error());
    if (!started) {
      log::line(log::Topic::Error, "{}; going on with {}", started.error().message, index);
      most_threads_ = index;
      break;
    }
    threads_.push_back(std::move(*started));
    workers_[index]->looks_ = true;
    ++looking_;
  }
  return {};
}

/// The last worker that sleeps, if no host thread has a place yet.
bool WorkerPool::has_place_for_host() const {
  return borrowed_ == 0 && parked_.has_one();
}

/// Whether a host may come for what is left of the work. Of other works it may have no part, and this one may wait for
/// them.
bool WorkerPool::is_left_to_host(const Work& work) const {
  const bool is_all = open_.first() == &work && !open_.after(work);
  return is_all && (work.is_of_host_ || hosts_awake_.load(std::memory_order_relaxed) != 0);
}

/// Who is to be woken, after the lock: null when none sleeps, or one looks already.
Worker* WorkerPool::worker_to_wake(Last last) {
  if (looking_ != 0) return nullptr;
  if (last == Last::NotYet && hosts_help_.load(std::memory_order_relaxed) && has_place_for_host()) return nullptr;
  if (Worker* worker = parked_.pop()) {
    worker->looks_ = true;
    ++looking_;
    return worker;
  }
  return napping_.pop();
}

/// After the lock. Null: nobody.
void WorkerPool::wake(Worker* worker, Beside beside) {
  if (!worker) return;
  worker->woken_at_.store(steady_nanoseconds(), std::memory_order_relaxed);
  if (beside == Beside::Yes) cores_.send(worker->sleeper());
  worker->word().raise(1);
}

void WorkerPool::bump() {
  SleepingWorkers woken;
  {
    Lock lock(mutex_);
    epoch_.fetch_add(1, std::memory_order_release);
    std::swap(woken, napping_);
  }
  while (Worker* worker = woken.pop()) worker->word().raise(1);
}

void WorkerPool::hand_out(Work& work, const Worker& worker, Range& range) {
  ItemsLeft& items = work.items_;
  const ItemsLeft::Run run =
      work.one_at_a_time() ? items.take_one() : items.take(cores_.part(items.parts(), worker.index(), workers_wanted_));
  range = {&work, run.begin, run.end};
  turn_ = open_.after(work);
  if (items.left() != 0) return;
  open_.erase(work);
  open_count_.fetch_sub(1, std::memory_order_relaxed);
}

bool WorkerPool::take(Worker& worker, Range& range) {
  if (worker.looks_ && open_count_.load(std::memory_order_relaxed) == 0) {
    ++worker.left_;
    return false;
  }
  Worker* woken = nullptr;
  bool taken = false;
  {
    Lock lock(mutex_);
    Work* const from = turn_ ? turn_ : open_.first();
    Work* work = from;
    while (work && !worker.may_begin(*work)) {
      work = open_.after(*work);
      if (!work) work = open_.first();
      if (work == from) work = nullptr;
    }
    taken = work != nullptr;
    if (work) hand_out(*work, worker, range);
    if (taken == worker.looks_ && (taken || worker.has_nothing())) {
      worker.looks_ = !taken;
      taken ? --looking_ : ++looking_;
    }
    if (work) {
      const bool again = std::exchange(worker.took_, work->number_) == work->number_;
      if (again && has_place_for_host()) hosts_help_.store(false, std::memory_order_relaxed);  // none came
      if (!open_.empty()) woken = worker_to_wake(!again && is_left_to_host(*work) ? Last::NotYet : Last::Too);
      worker.left_ = std::min(worker.left_, kMostDoublings) / 2;
    }
    worker.may_spin_ = looking_ < workers_wanted_;
  }
  wake(woken, Beside::Yes);
  return taken;
}

void WorkerPool::finish(Work& work, uint64_t items) {
  if (work.unfinished_.fetch_sub(items, std::memory_order_acq_rel) != items) return;
  {
    Lock lock(mutex_);
    active_.erase(work);
    if (ending_ && active_.empty()) idle_.notify_all();
  }
  work.owner_.work_done();
}

void WorkerPool::fail_all(const CpuDomain& domain) {
  Work* given_up = nullptr;
  {
    Lock lock(mutex_);
    for (Work* work = active_.first(); work; work = active_.after(*work)) {
      if (&work->domain() != &domain) continue;
      work->fail();
      if (work->items_.left() == 0) continue;  // all have begun, or another thread gives it up: given_up_ is its own
      work->given_up_ = work->items_.clear();
      if (turn_ == work) turn_ = open_.after(*work);
      open_.erase(*work);
      open_count_.fetch_sub(1, std::memory_order_relaxed);
      work->next_given_up_ = given_up;
      given_up = work;
    }
  }
  while (Work* work = given_up) {
    given_up = work->next_given_up_;
    finish(*work, work->given_up_);
  }
  bump();
}

/// A thread that brought work and looks for some, or waits and is about to help, has a small work done sooner than
/// another core hears of it. So it gets about a microsecond, and more after each work that was over by then; nothing is
/// looked at meanwhile that it changes.
void WorkerPool::leave_to_others(const Worker& worker) {
  constexpr uint32_t kPauses = 20;
  if (!hosts_help_.load(std::memory_order_relaxed) && !submitter_looks_.load(std::memory_order_relaxed)) return;
  const uint32_t pauses = kPauses << std::min(worker.left_, kMostDoublings);
  for (uint32_t i = 0; i < pauses; ++i) pause_briefly();
}

bool WorkerPool::spin(Worker& worker, uint64_t seen) {
  const int core = cores_.enter(Cores::Doing::Looks);
  const bool has_come = worker.spin_budget().spin([&] { return epoch() != seen; });
  cores_.leave(core, Cores::Doing::Looks);
  return has_come;
}

bool WorkerPool::park(Worker& worker, uint64_t seen) {
  if (worker.may_spin_ && spin(worker, seen)) {
    leave_to_others(worker);
    cores_.make_room(Cores::Doing::Works);
    return true;
  }
  {
    Lock lock(mutex_);
    if (stopping_) return false;
    if (epoch() != seen) return true;
    worker.sleeper().sleeps();
    worker.looks_ = false;
    --looking_;
    worker.word().clear();
    parked_.push(worker);
  }
  worker.word().wait();
  worker.sleeper().wakes();
  if (worker.may_spin_) worker.spin_budget().came_at(worker.woken_at_.load(std::memory_order_relaxed));
  Lock lock(mutex_);
  return !stopping_;
}

void WorkerPool::nap(Worker& worker, uint64_t seen, uint32_t microseconds) {
  {
    Lock lock(mutex_);
    if (epoch() != seen) return;
    worker.word().clear();
    napping_.push(worker);
  }
  if (worker.word().wait(uint64_t{microseconds} * 1000)) return;
  {
    Lock lock(mutex_);
    if (napping_.erase(worker)) return;
  }
  worker.word().wait();  // it was taken off the list: the waking is under way
}

// ---- host threads that help ----

bool WorkerPool::help(const Work::Owner& owner, const std::function<bool()>& enough, HostPatience& patience) {
  if (!may_run_kernels_here()) return patience.spin(/*has_place=*/false, enough);
  hosts_awake_.fetch_add(1, std::memory_order_relaxed);
  for (uint32_t vain = 0; vain < kMostVainLooks; ++vain) {
    const uint64_t seen = epoch();
    while (!enough() && help_now(owner, enough)) vain = 0;
    if (enough() || !patience.spin(has_place(), [&] { return enough() || epoch() != seen; })) break;
  }
  host_looks_no_more();
  return enough();
}

/// It sleeps, or its wait is over: what was left to it a worker has.
void WorkerPool::host_looks_no_more() {
  Worker* woken = nullptr;
  {
    Lock lock(mutex_);
    hosts_awake_.fetch_sub(1, std::memory_order_relaxed);
    if (!open_.empty()) woken = worker_to_wake();
  }
  wake(woken, Beside::Yes);
}

/// Whether a core is free for the one host thread that looks.
bool WorkerPool::has_place() {
  if (hosts_awake_.load(std::memory_order_relaxed) > 1) return false;
  Lock lock(mutex_);
  return !parked_.empty();
}

bool WorkerPool::help_now(const Work::Owner& owner, const std::function<bool()>& enough) {
  if (open_count_.load(std::memory_order_relaxed) == 0 || !may_run_kernels_here()) return false;
  Range range;
  Worker* const worker = borrow(owner, range);
  if (!worker) return false;
  {
    const Worker::OnThread here(*worker);
    if (range.work->count() > 1) cores_.make_room(Cores::Doing::Looks);
    const OnCore core(cores_);
    worker->helped_ = &owner;
    do worker->run_to_end(range);
    while (!enough() && take_of(owner, *worker, range));
    worker->helped_ = nullptr;
  }
  give_back(*worker);
  return true;
}

/// Items of a work of the owner's; false when there are none that a host thread may run.
bool WorkerPool::hand_out_of(const Work::Owner& owner, const Worker& worker, Range& range) {
  for (Work* work = open_.first(); work; work = open_.after(*work)) {
    if (&work->owner() != &owner) continue;
    if (!work->may_help()) return false;
    hand_out(*work, worker, range);
    return true;
  }
  return false;
}

/// A parked worker whose place the caller takes, and a first range for it; or null.
Worker* WorkerPool::borrow(const Work::Owner& owner, Range& range) {
  Worker *worker = nullptr, *woken = nullptr;
  {
    Lock lock(mutex_);
    hosts_help_.store(true, std::memory_order_relaxed);
    if (parked_.empty() || !hand_out_of(owner, *parked_.last(), range)) return nullptr;
    ++borrowed_;
    worker = parked_.pop();
    if (!open_.empty()) woken = worker_to_wake();
  }
  wake(woken, Beside::Yes);
  return worker;
}

bool WorkerPool::take_of(const Work::Owner& owner, const Worker& worker, Range& range) {
  Worker* woken = nullptr;
  {
    Lock lock(mutex_);
    if (!hand_out_of(owner, worker, range)) return false;
    if (!open_.empty()) woken = worker_to_wake();
  }
  wake(woken, Beside::Yes);
  return true;
}

/// The worker's thread sleeps in its place still; it is woken if there is something for it.
void WorkerPool::give_back(Worker& worker) {
  Worker* woken = nullptr;
  {
    Lock lock(mutex_);
    parked_.push(worker);
    if (!open_.empty()) woken = worker_to_wake();
    if (--borrowed_ == 0 && ending_) idle_.notify_all();
  }
  wake(woken, Beside::Yes);
}

}  // namespace cupola::cpu
