#pragma once

#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "hal/buffer.h"
#include "runtime/address_map.h"

// Addresses and memory apart: "CUDA Driver API, Virtual Memory Management". A reservation is a range of addresses;
// memory is mapped into it in whole chunks, and reached once access is given. What is reached is known to the rest of
// the API as memory: parts that lie side by side as one range.

namespace cupola::runtime {

class Device;

/// Device memory with a handle. Lives while it has a handle or is mapped.
struct PhysicalMemory {
  Device* device = nullptr;
  std::shared_ptr<hal::Memory> memory;
  int location_type = 0, location = 0;  ///< as the program gave them
  int handle_type = 0;
};

/// Any thread.
class VirtualMemory {
 public:
  static VirtualMemory& get();

  /// Errors: InvalidValue for sizes that are no multiple of a chunk or an alignment that is no power of two;
  /// OutOfMemory.
  Result<hal::Address> reserve(Device& device, uint64_t size, uint64_t alignment) EXCLUDES(mutex_);
  /// Error: InvalidValue for what is no whole reservation, or one where memory is mapped.
  Result<> free(hal::Address address, uint64_t size) EXCLUDES(mutex_);

  /// Gives memory its first handle, which is the object's address.
  const PhysicalMemory* add(std::shared_ptr<PhysicalMemory> memory) EXCLUDES(mutex_);
  /// Error: InvalidValue for what is no live handle.
  Result<std::shared_ptr<PhysicalMemory>> find(const void* handle) const EXCLUDES(mutex_);
  Result<> release(const void* handle) EXCLUDES(mutex_);
  /// One more use of the handle of what is mapped at the address. Error: InvalidValue.
  Result<const PhysicalMemory*> retain(hal::Address address) EXCLUDES(mutex_);

  /// Errors: InvalidValue for a range outside of a reservation or partly mapped; NotSupported for one that is not
  /// within the memory, as an H200 (driver 580) has it.
  Result<> map(hal::Address address, uint64_t size, uint64_t offset, const void* handle) EXCLUDES(mutex_);
  /// Whole mappings only. The caller has waited for what used them. Error: InvalidValue.
  Result<> unmap(hal::Address address, uint64_t size) EXCLUDES(mutex_);
  /// Errors: InvalidValue for a range that is not mapped throughout.
  Result<> set_access(hal::Address address, uint64_t size, hal::Access access) EXCLUDES(mutex_);
  Result<hal::Access> access(hal::Address address) const EXCLUDES(mutex_);
  /// What is mapped at the address. Error: InvalidValue.
  Result<std::shared_ptr<const PhysicalMemory>> memory_at(hal::Address address) const EXCLUDES(mutex_);

 private:
  struct Mapping {
    std::shared_ptr<PhysicalMemory> memory;
    uint64_t first_chunk, chunks;
  };
  struct Chunk {
    std::shared_ptr<const Mapping> mapping;
    hal::Access access = hal::Access::None;
  };
  struct Reservation {
    Device* device;
    std::shared_ptr<hal::Buffer> buffer;
    hal::Address address;  ///< as given out: the buffer begins below when more alignment was asked for
    uint64_t size;
    std::vector<Chunk> chunks;
    std::map<uint64_t, uint64_t> known;  ///< what the API knows as ranges: first chunk and end
  };
  /// A part of a reservation, in chunks.
  struct Part {
    Reservation* home;
    uint64_t begin, end;
    uint64_t offset;  ///< in the buffer, bytes
  };
  Result<Part> part_of(hal::Address address, uint64_t size) REQUIRES(mutex_);
  Result<const Chunk*> mapped_chunk(hal::Address address) const REQUIRES(mutex_);
  Result<> announce(const Part& part, bool reached) REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::map<hal::Address, Reservation> reservations_ GUARDED_BY(mutex_);
  struct Handle {
    std::shared_ptr<PhysicalMemory> memory;
    uint64_t uses = 1;
  };
  std::map<const void*, Handle> handles_ GUARDED_BY(mutex_);
};

}  // namespace cupola::runtime
