#include "backend/cpu/run/worker.h"

#include <sched.h>

#include <chrono>
#include <new>
#include <thread>

#include "backend/cpu/run/cpu_domain.h"
#include "base/platform.h"

namespace cupola::cpu {
namespace {

// A worker whose blocks all wait gives its core away: first for a turn, then for naps.
constexpr uint32_t kRoundsBeforeNaps = 50;
constexpr uint32_t kNapMicroseconds = 50;

CUPOLA_NEAR_THREAD_LOCAL constinit Worker* this_worker = nullptr;

}  // namespace

Worker::Worker(WorkerPool& pool, ExecutionEnvironment& environment, uint32_t index)
    : pool_(pool), environment_(environment), index_(index) {}

Worker::~Worker() = default;

Worker::OnThread::OnThread(Worker& worker) : fibres_(worker.fibres_) {
  this_worker = &worker;
}

Worker::OnThread::~OnThread() {
  this_worker = nullptr;
}

bool Worker::this_thread_will_look(const WorkerPool& pool, const Work& work) {
  const Worker* const worker = this_worker;
  if (!worker || &worker->pool_ != &pool || worker->in_item_ || !worker->has_nothing()) return false;
  return !worker->helped_ || worker->helped_ == &work.owner();
}

void Worker::loop() {
  const OnThread here(*this);
  for (;;) {
    const uint64_t seen = pool_.epoch();
    bool progress = resume_residents();
    progress |= begin_next();
    if (progress) {
      idle_rounds_ = 0;
    } else if (!residents_.empty()) {
      rest(seen);
    } else {
      core_.reset();
      if (!pool_.park(*this, seen)) return;
    }
  }
}

void Worker::run_to_end(Range& range) {
  run_range(range);
  for (uint32_t rounds = 0; !has_nothing();) {
    bool progress = resume_residents();
    progress |= continue_pending();
    if (progress)
      rounds = 0;
    else if (++rounds < kRoundsBeforeNaps)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(kNapMicroseconds));
  }
}

void Worker::run_all(Work& work) {
  const OnThread here(*this);
  for (uint64_t begun = 0; begun < work.count() && !work.failed() && !work.domain().faults.any();)
    begun += run_or_fault(work, begun, work.count() - begun).begun;
}

void Worker::rest(uint64_t seen) {
  if (++idle_rounds_ < kRoundsBeforeNaps)
    sched_yield();
  else
    pool_.nap(*this, seen, kNapMicroseconds);
}

/// One turn for each block that waits; true if any got further.
bool Worker::resume_residents() {
  bool progress = false;
  for (size_t i = 0; i < residents_.size();) {
    Block& block = *residents_[i].block;
    in_item_ = true;
    const Block::Outcome outcome = block.run();
    in_item_ = false;
    progress |= block.progressed();
    if (outcome == Block::Outcome::Waiting) {
      ++i;
      continue;
    }
    progress = true;
    Resident over = std::move(residents_[i]);
    residents_.erase(residents_.begin() + static_cast<ptrdiff_t>(i));
    spare_blocks_.push_back(std::move(over.block));
    pool_.finish(*over.grid, 1);
  }
  return progress;
}

bool Worker::may_begin(const Work& work) const {
  uint32_t resident = 0;
  for (const Resident& each : residents_) resident += each.grid == &work;
  for (const Range& each : pending_)
    if (each.work == &work) return false;
  return resident < work.most_resident();
}

bool Worker::begin_next() {
  if (continue_pending()) return true;
  Range range;
  if (!pool_.take(*this, range)) return false;
  if (!core_) core_.emplace(pool_.cores());
  run_range(range);
  return true;
}

bool Worker::continue_pending() {
  for (size_t i = 0; i < pending_.size(); ++i) {
    Range range = pending_[i];
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(i));
    if (range.work->failed() || may_begin(*range.work)) {
      run_range(range);
      return true;
    }
    pending_.insert(pending_.begin() + static_cast<ptrdiff_t>(i), range);
  }
  return false;
}

/// Where the host has no memory to begin an item, all of them count as over: the fault gives the work up.
Work::Ran Worker::run_or_fault(Work& work, uint64_t first, uint64_t most) {
  try {
    pending_.reserve(pending_.size() + 1);
    return work.run(*this, first, most);
  } catch (const std::bad_alloc&) {
    work.domain().faults.record_out_of_memory("no host memory to run blocks");
    return {most, most};
  }
}

/// Runs a range, to its end or to the first block that waits for something outside; what is left stays pending.
void Worker::run_range(Range& range) {
  uint64_t over = 0;
  while (range.begin < range.end) {
    if (range.work->failed()) {
      over += range.end - range.begin;
      range.begin = range.end;
      break;
    }
    in_item_ = true;
    const Work::Ran ran = run_or_fault(*range.work, range.begin, range.end - range.begin);
    in_item_ = false;
    range.begin += ran.begun;
    over += ran.over;
    if (ran.over < ran.begun || !residents_.empty()) break;
  }
  Work& work = *range.work;
  if (range.begin < range.end) pending_.push_back(range);
  if (over) pool_.finish(work, over);
}

Work::Ran Worker::run_blocks(Grid& grid, uint64_t first, uint64_t most) {
  residents_.reserve(residents_.size() + 1);
  std::unique_ptr<Block> block;
  if (spare_blocks_.empty()) {
    spare_blocks_.reserve(residents_.size() + 1);
    block = std::make_unique<Block>(*this);
  } else {
    block = std::move(spare_blocks_.back());
    spare_blocks_.pop_back();
  }
  const bool is_over = block->begin(grid, first, most) == Block::Outcome::Over;
  const uint64_t begun = block->begun();
  if (is_over)
    spare_blocks_.push_back(std::move(block));
  else
    residents_.push_back({&grid, std::move(block)});
  return {begun, is_over ? begun : begun - 1};
}

}  // namespace cupola::cpu
