#include "backend/cpu/run/worker_pool.h"

#include <algorithm>
#include <chrono>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/device_thread.h"
#include "backend/cpu/run/worker.h"
#include "base/log.h"

namespace cupola::cpu {
namespace {

// How long a worker looks for work before it sleeps: about as long as a sleep and a wake-up take.
constexpr int kSpins = 2000;

}  // namespace

WorkerPool::WorkerPool(uint32_t workers, ExecutionEnvironment& environment)
    : workers_wanted_(workers), environment_(environment), most_threads_(workers) {}

WorkerPool::~WorkerPool() {
  std::vector<std::thread> threads;
  {
    Lock lock(mutex_);
    while (!active_.empty()) idle_.wait(lock);
    stopping_ = true;
    threads.swap(threads_);
    epoch_.fetch_add(1);
    changed_.notify_all();
  }
  for (std::thread& thread : threads) thread.join();
}

void WorkerPool::submit(std::shared_ptr<Work> work) {
  if (work->count() == 0) {
    work->done_();
    return;
  }
  Lock lock(mutex_);
  active_.push_back(work);
  uint64_t wanted = 0;
  for (const auto& each : active_) wanted += std::min<uint64_t>(each->unfinished_.load(), workers_wanted_);
  if (Result<> started = start_threads(std::min<uint64_t>(wanted, most_threads_)); !started) {
    lock.unlock();
    work->domain().faults.record(std::move(started).error());  // which gives the work up
    return;
  }
  epoch_.fetch_add(1, std::memory_order_release);
  if (sleepers_) wanted == 1 ? changed_.notify_one() : changed_.notify_all();
}

/// Error: OperatingSystem when there is not one thread.
Result<> WorkerPool::start_threads(uint64_t wanted) {
  while (threads_.size() < wanted) {
    const auto index = static_cast<uint32_t>(threads_.size());
    auto started = start_device_thread("cupola-" + std::to_string(index),
                                       [this, index] { Worker(*this, environment_, index).loop(); });
    if (!started && index == 0) return fail(std::move(started).error());
    if (!started) {
      log::line(log::Topic::Error, "{}; going on with {}", started.error().message, index);
      most_threads_ = index;
      break;
    }
    threads_.push_back(std::move(*started));
  }
  return {};
}

void WorkerPool::bump() {
  epoch_.fetch_add(1, std::memory_order_release);
  Lock lock(mutex_);
  if (sleepers_) changed_.notify_all();
}

bool WorkerPool::take(const Worker& worker, Range& range) {
  Lock lock(mutex_);
  for (size_t i = 0; i < active_.size(); ++i) {
    const size_t place = (turn_ + i) % active_.size();
    const std::shared_ptr<Work>& work = active_[place];
    const uint64_t left = work->count_ - work->next_;
    if (left == 0 || !worker.may_begin(*work)) continue;
    const uint64_t guided = std::max<uint64_t>(1, left / (4 * uint64_t{workers_wanted_}));
    range.work = work;
    range.begin = work->next_;
    range.end = range.begin + std::min(guided, work->most_at_once());
    work->next_ = range.end;
    turn_ = place + 1;
    return true;
  }
  return false;
}

void WorkerPool::finish(const std::shared_ptr<Work>& work, uint64_t items) {
  if (work->unfinished_.fetch_sub(items, std::memory_order_acq_rel) != items) return;
  // A copy, because `work` may lie in active_: NOLINTNEXTLINE(performance-unnecessary-copy-initialization)
  const std::shared_ptr<Work> kept = work;
  auto done = std::move(kept->done_);
  done();  // before it leaves the list, so that the destructor does not miss what it submits
  Lock lock(mutex_);
  std::erase(active_, kept);
  if (active_.empty()) idle_.notify_all();
}

void WorkerPool::fail_all(const CpuDomain& domain) {
  std::vector<std::pair<std::shared_ptr<Work>, uint64_t>> skipped;
  {
    Lock lock(mutex_);
    for (const auto& work : active_) {
      if (&work->domain() != &domain) continue;
      work->fail();
      const uint64_t left = work->count_ - work->next_;
      work->next_ = work->count_;
      if (left) skipped.emplace_back(work, left);
    }
  }
  for (auto& [work, items] : skipped) finish(work, items);
  bump();
}

bool WorkerPool::park(uint64_t seen) {
  for (int i = 0; i < kSpins; ++i) {
    if (epoch() != seen) break;
    pause_briefly();
  }
  Lock lock(mutex_);
  ++sleepers_;
  while (epoch() == seen && !stopping_) changed_.wait(lock);
  --sleepers_;
  return !stopping_;
}

void WorkerPool::nap(uint64_t seen, uint32_t microseconds) {
  Lock lock(mutex_);
  if (epoch() != seen) return;
  ++sleepers_;
  changed_.wait_for(lock, std::chrono::microseconds(microseconds));
  --sleepers_;
}

}  // namespace cupola::cpu
