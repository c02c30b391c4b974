#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "backend/cpu/run/cpu_queue.h"
#include "base/mutex.h"
#include "image/device_calls.h"

namespace cupola::cpu {

class CpuSemaphore;
struct CpuDomain;

/// What handles stand for that kernels hold. Not thread-safe.
template <typename T>
class HandleTable {
 public:
  /// `base`: handles are above it, and those of two tables differ where their bases do by more than 2^24.
  explicit HandleTable(uint64_t base) : base_(base) {}

  uint64_t add(std::shared_ptr<T> object) {
    if (free_.empty()) free_.push_back(objects_.size()), objects_.emplace_back();
    const uint64_t place = free_.back();
    objects_[place] = std::move(object);
    free_.pop_back();
    return base_ + place;
  }
  std::shared_ptr<T> find(uint64_t handle) const {
    return handle - base_ < objects_.size() ? objects_[handle - base_] : nullptr;
  }
  /// Null when there is no such handle.
  std::shared_ptr<T> remove(uint64_t handle) {
    std::shared_ptr<T> object = find(handle);
    if (!object) return nullptr;
    free_.push_back(handle - base_);
    objects_[handle - base_].reset();
    return object;
  }

 private:
  const uint64_t base_;
  std::vector<std::shared_ptr<T>> objects_;
  std::vector<uint64_t> free_;
};

/// The queues of what one grid's kernel launches, and the count of what is not done: a grid is over when all of that
/// is. "CUDA C++ Programming Guide, CUDA Dynamic Parallelism". Any thread. Nothing here waits.
class DeviceQueues final : private CpuQueue::Listener {
 public:
  using Error = image::DeviceError;

  /// Hears that all is done.
  class Owner {
   public:
    virtual void all_done() = 0;  ///< the queues may end here

   protected:
    ~Owner() = default;
  };

  /// `depth` of the launches. The queues outlive none of what is in them.
  DeviceQueues(const QueueServices& services, std::shared_ptr<CpuDomain> domain, uint64_t grid, uint32_t depth);

  /// The launch's slot is the caller's if this fails. `of_block`: the block's own stream, made here if it is wanted.
  Error launch(hal::Launch launch, uint64_t stream, std::unique_ptr<CpuQueue>& of_block);
  Error transfer(hal::Command command, uint64_t stream, std::unique_ptr<CpuQueue>& of_block);

  uint64_t create_stream();
  Error destroy_stream(uint64_t stream);
  uint64_t create_event();
  Error destroy_event(uint64_t event);
  Error record(uint64_t event, uint64_t stream, std::unique_ptr<CpuQueue>& of_block);
  Error wait(uint64_t event, uint64_t stream, std::unique_ptr<CpuQueue>& of_block);

  uint32_t depth() const { return depth_; }
  const QueueServices& services() const { return services_; }

  /// The grid's blocks are over: tail launches begin once all else is. True when there is nothing left; else the owner
  /// hears of the end, perhaps already.
  bool end(Owner& owner);

 private:
  struct Event {
    Mutex mutex;  ///< held while a record goes into its queue, so that later values are signalled later
    std::shared_ptr<CpuSemaphore> semaphore;
    uint64_t recorded GUARDED_BY(mutex) = 0;
  };

  std::unique_ptr<CpuQueue> make_queue();
  std::shared_ptr<hal::Queue> queue_of(uint64_t stream, std::unique_ptr<CpuQueue>& of_block);
  std::shared_ptr<Event> event_of(uint64_t event);
  void append(hal::Queue& queue, hal::Command command);
  void command_done() override;
  bool begin_tail();

  const QueueServices services_;
  const std::shared_ptr<CpuDomain> domain_;
  const uint32_t depth_;
  std::atomic<uint64_t> pending_{1};  ///< commands that are not done, and the grid itself
  Owner* owner_ = nullptr;            ///< from end() on

  Mutex mutex_;
  std::vector<hal::Command> tail_ GUARDED_BY(mutex_);
  HandleTable<CpuQueue> streams_ GUARDED_BY(mutex_);
  HandleTable<Event> events_ GUARDED_BY(mutex_);
};

}  // namespace cupola::cpu
