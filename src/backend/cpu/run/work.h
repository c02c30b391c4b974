#pragma once

#include <atomic>
#include <cstdint>

#include "backend/cpu/run/items_left.h"

namespace cupola::cpu {

class Worker;
struct CpuDomain;

/// Something the pool spreads over its workers: items 0 to count - 1, at least one. It lives until its owner is told
/// that it is done: until then the pool and the workers refer to it.
class Work {
 public:
  class Owner {
   public:
    /// All items are over, and nobody refers to the work any more. Called once, by whoever ends the last item.
    virtual void work_done() = 0;

   protected:
    ~Owner() = default;
  };

  Work(uint64_t count, CpuDomain& domain, Owner& owner)
      : count_(count), domain_(domain), owner_(owner), unfinished_(count), items_(count) {}
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  uint64_t count() const { return count_; }
  CpuDomain& domain() const { return domain_; }
  const Owner& owner() const { return owner_; }

  /// True when an item may wait for others: they are handed out one at a time, in increasing order.
  virtual bool one_at_a_time() const { return false; }

  /// Most items that may be begun and not over on one worker.
  virtual uint32_t most_resident() const { return 1; }

  /// True when a host thread that waits for the work may do a part of it: no item waits for something outside.
  virtual bool may_help() const { return true; }

  /// True when all of it takes less time than another core needs to hear of it; no item waits for anything.
  virtual bool is_short() const { return false; }

  /// True once the work is given up: items that have not begun are skipped, others end where they next wait.
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  void fail() { failed_.store(true, std::memory_order_release); }

  /// Items that a worker has begun, and how many of them are over; it keeps what is not.
  struct Ran {
    uint64_t begun, over;
  };
  /// Runs items from `first` on, on `worker`: at least one, at most `most`.
  virtual Ran run(Worker& worker, uint64_t first, uint64_t most) = 0;

 protected:
  ~Work() = default;

 private:
  friend class WorkerPool;
  friend class WorkList;
  struct Link {
    Work *before = nullptr, *after = nullptr;
  };

  const uint64_t count_;
  CpuDomain& domain_;
  Owner& owner_;
  std::atomic<uint64_t> unfinished_;
  std::atomic<bool> failed_{false};
  // Under the pool's lock.
  ItemsLeft items_;          ///< that no worker has
  uint64_t number_ = 0;      ///< the pool's, from 1 on
  bool is_of_host_ = false;  ///< a host thread brought it, which may wait for it next
  Link links_[2];            ///< in the pool's lists
  // Of the thread that gives the work up.
  uint64_t given_up_ = 0;
  Work* next_given_up_ = nullptr;
};

/// Works in the order in which they came; the place says which of a work's links it uses. Not thread-safe.
class WorkList {
 public:
  explicit WorkList(uint32_t place) : place_(place) {}

  Work* first() const { return first_; }
  Work* after(const Work& work) const { return work.links_[place_].after; }
  bool empty() const { return !first_; }

  void push_back(Work& work) {
    work.links_[place_] = {last_, nullptr};
    (last_ ? last_->links_[place_].after : first_) = &work;
    last_ = &work;
  }

  void erase(Work& work) {
    const Work::Link link = work.links_[place_];
    (link.before ? link.before->links_[place_].after : first_) = link.after;
    (link.after ? link.after->links_[place_].before : last_) = link.before;
  }

 private:
  const uint32_t place_;
  Work *first_ = nullptr, *last_ = nullptr;
};

}  // namespace cupola::cpu
