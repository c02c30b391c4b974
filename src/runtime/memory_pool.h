#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <utility>

#include "base/handles.h"
#include "base/mutex.h"
#include "memory/heap.h"
#include "runtime/address_map.h"
#include "runtime/pending_frees.h"

// Memory pools: "CUDA Driver API, Stream Ordered Memory Allocator". What a stream frees goes back to its pool once the
// stream gets there, and the pool keeps it for what is allocated next, of whatever stream. More than its release
// threshold goes back to the device when the host next synchronises with the device.

namespace cupola::runtime {

class Context;
class Device;

/// A pool, of this process or imported. Lives as long as anybody holds it or memory of it. Any thread.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  struct Properties {
    MemoryKind kind = MemoryKind::Device;
    uint64_t most_bytes = 0;  ///< 0: as much as the device has
    bool exportable = false;
  };

  /// Errors: OutOfMemory; NotSupported for an exportable pool where memory cannot be shared.
  static Result<std::shared_ptr<MemoryPool>> make(Device& device, const Properties& properties);
  /// A pool that another process exported. Nothing can be allocated from it. Error: InvalidValue.
  static Result<std::shared_ptr<MemoryPool>> import(Device& device, int descriptor);

  Device& device() const { return device_; }
  const Properties& properties() const { return properties_; }

  /// An allocation that belongs to `context`. Errors: InvalidValue for 0 bytes or an imported pool, OutOfMemory.
  Result<hal::Address> allocate(Context& context, uint64_t bytes);
  /// Takes back what allocate() or import_pointer() gave; no command may use it any more.
  void take_back(hal::Address address, uint64_t bytes);

  /// Gives back to the device what is not in use, until no more than `keep` bytes are held.
  void trim(uint64_t keep);
  uint64_t release_threshold() const { return release_threshold_.load(); }
  void set_release_threshold(uint64_t bytes) { release_threshold_.store(bytes); }

  /// Bytes. Held ones are in use or kept for later.
  struct Usage {
    uint64_t held, most_held, used, most_used;
  };
  Usage usage() const EXCLUDES(mutex_);
  void restart_most_held() EXCLUDES(mutex_);
  void restart_most_used() EXCLUDES(mutex_);

  /// A descriptor for another process's import(); valid as long as the pool. Error: InvalidValue when it was not made
  /// to be exported.
  Result<int> descriptor() const;
  /// Where an allocation lies in the pool's memory. Error: InvalidValue when `address` is none of an exportable pool.
  Result<uint64_t> offset_of(hal::Address address);
  /// The address here of an allocation of the exporting process. Errors: InvalidValue, also when it is imported
  /// already.
  Result<hal::Address> import_pointer(Context& context, uint64_t offset, uint64_t bytes);

  /// What freed memory may be reused for; kept and reported. Memory is reused as soon as its stream has freed it, and
  /// no stream ever waits for it.
  std::array<std::atomic<int>, 3> reuse{1, 1, 1};
  /// Access of other places than the pool's own, by type and number: kept and reported, as all can reach the memory.
  Mutex access_mutex;
  std::map<std::pair<int, int>, int> access GUARDED_BY(access_mutex);

 private:
  MemoryPool(Device& device, const Properties& properties, const memory::Heap::Options& options);
  void note_held() REQUIRES(mutex_);
  Result<> take(uint64_t bytes) EXCLUDES(mutex_);
  Result<hal::Address> allocate_taken(Context& context, uint64_t bytes);

  Device& device_;
  const Properties properties_;
  memory::Heap heap_;
  std::shared_ptr<hal::Memory> memory_;  ///< of an exportable or imported pool
  std::unique_ptr<hal::Buffer> window_;  ///< an imported pool's memory, as this process sees it
  std::atomic<uint64_t> release_threshold_{0};
  mutable Mutex mutex_;
  uint64_t used_ GUARDED_BY(mutex_) = 0;
  uint64_t most_used_ GUARDED_BY(mutex_) = 0;
  uint64_t most_held_ GUARDED_BY(mutex_) = 0;
};

/// The pools of the process. Any thread.
class MemoryPools {
 public:
  static MemoryPools& get();

  std::shared_ptr<MemoryPool> add(std::shared_ptr<MemoryPool> pool);
  /// Errors: InvalidValue for what is no pool; also to remove a device's default one.
  Result<std::shared_ptr<MemoryPool>> find(const void* handle) const;
  Result<> remove(const void* handle);

  /// The pool that a device has for a kind of memory, made at first use, and the one that allocations come from.
  Result<std::shared_ptr<MemoryPool>> default_of(Device& device, MemoryKind kind) EXCLUDES(mutex_);
  Result<std::shared_ptr<MemoryPool>> current_of(Device& device, MemoryKind kind) EXCLUDES(mutex_);
  Result<> set_current(Device& device, MemoryKind kind, std::shared_ptr<MemoryPool> pool) EXCLUDES(mutex_);

  /// The host has synchronised with the device: pools let go of what is above their thresholds.
  void synchronised(const Device& device);
  /// Another allocation wants memory: pools and the device's heap let go of all that is not in use.
  void release_all(Device& device);

 private:
  std::vector<std::shared_ptr<MemoryPool>> of(const Device& device) const EXCLUDES(mutex_);

  using Place = std::pair<const Device*, MemoryKind>;
  Handles<MemoryPool> handles_;
  mutable Mutex mutex_;
  std::map<Place, std::shared_ptr<MemoryPool>> defaults_ GUARDED_BY(mutex_), current_ GUARDED_BY(mutex_);
  std::vector<std::weak_ptr<MemoryPool>> all_ GUARDED_BY(mutex_);
  std::atomic<bool> any_{false};  ///< there ever was a pool
};

/// allocate() -> Result<...>, asked again while it is out of memory and streams or pools still give some back.
template <typename Allocate>
auto allocate_making_room(Device& device, Allocate allocate) {
  PendingFrees& frees = PendingFrees::get();
  const auto lacks = [](const auto& made) { return !made && made.error().code == ErrorCode::OutOfMemory; };
  frees.reclaim_some();
  auto made = allocate();
  if (!lacks(made)) return made;
  frees.reclaim();
  do {
    MemoryPools::get().release_all(device);
    made = allocate();
  } while (lacks(made) && frees.reclaim_oldest(device));
  return made;
}

}  // namespace cupola::runtime
