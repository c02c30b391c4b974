#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "hal/types.h"

namespace cupola::runtime {

class Context;
class MemoryPool;

/// What an address range is to the API.
enum class MemoryKind {
  Device,      ///< cuMemAlloc and relatives
  Managed,     ///< cuMemAllocManaged
  Pinned,      ///< page-locked host memory that we allocated
  Registered,  ///< host memory of the program that it registered
  Mapped,      ///< mapped by cuMemMap; belongs to its device, to no context
  Opened,      ///< of another process
  ModuleData,  ///< __device__ and __constant__ variables
  Graph,       ///< of a graph's allocation node
};

struct MemoryRange {
  hal::Address address = 0;
  uint64_t size = 0;
  MemoryKind kind = MemoryKind::Device;
  Context* context = nullptr;
  unsigned flags = 0;                           ///< as given to the call that made it
  uint64_t id = 0;                              ///< unique in the process
  std::shared_ptr<const void> owner = nullptr;  ///< ModuleData: the executable; commands that touch the range keep it
  std::shared_ptr<MemoryPool> pool = nullptr;   ///< what the range goes back to, if anything

  /// Only on the host side of copies; kernels reach it too, but its contents belong to the host.
  bool is_host() const { return kind == MemoryKind::Pinned || kind == MemoryKind::Registered; }
  bool holds(hal::Address at, uint64_t bytes) const {
    return at >= address && bytes <= size && at - address <= size - bytes;
  }
};

/// Every range that the API knows, of all devices: addresses are unified. Any thread.
class AddressMap {
 public:
  /// Error: HostMemoryAlreadyRegistered when the range touches a known one.
  Result<> add(MemoryRange range);

  /// The range that holds `address`.
  std::optional<MemoryRange> find(hal::Address address) const;

  /// Takes out the range that begins at `address` and is of a kind for which `wanted` is true.
  template <typename Wanted>
  std::optional<MemoryRange> take(hal::Address address, Wanted wanted) {
    Lock lock(mutex_);
    auto found = ranges_.find(address);
    if (found == ranges_.end() || !wanted(found->second)) return std::nullopt;
    MemoryRange range = found->second;
    ranges_.erase(found);
    return range;
  }

  /// Takes `old` out, ranges of this kind that begin there, and adds others; nobody sees one without the other. Error:
  /// as add(), and then nothing has changed.
  Result<> replace(MemoryKind kind, std::span<const hal::Address> old, std::vector<MemoryRange> others);

  /// All ranges of the context, taken out; what belongs to the device stays.
  std::vector<MemoryRange> take_all(const Context* context);

 private:
  Result<> insert(MemoryRange range) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<hal::Address, MemoryRange> ranges_ GUARDED_BY(mutex_);
  uint64_t next_id_ GUARDED_BY(mutex_) = 1;
};

}  // namespace cupola::runtime
