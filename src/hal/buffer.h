#pragma once

#include <memory>

#include "base/result.h"
#include "hal/memory.h"
#include "hal/types.h"

namespace cupola::hal {

/// A reserved range of device addresses with backing in whole chunks. The range stays the same for the Buffer's life;
/// what backs it may come and go. Destroying it returns the range. Not thread-safe by itself: the owner serialises.
class Buffer {
 public:
  virtual ~Buffer() = default;

  virtual Address address() const = 0;
  virtual uint64_t size() const = 0;

  /// Backs [offset, offset + size) with zeroed memory; a multiple of Device::chunk_bytes(). Error: OutOfMemory.
  virtual Result<> commit(uint64_t offset, uint64_t size) = 0;

  /// Gives the backing of [offset, offset + size) back; what it held is lost.
  virtual Result<> decommit(uint64_t offset, uint64_t size) = 0;

  // Devices whose memory cannot be shared answer the following with NotSupported.

  /// Moves what backs the range, and will back it, into a Memory of the range's size, which can be exported: the same
  /// at each call. Addresses and contents stay, also for kernels that run meanwhile.
  virtual Result<std::shared_ptr<Memory>> share() { return not_shareable(); }

  /// Backs [offset, offset + size), which is not committed, with a part of `memory`, at first without any access. All
  /// are multiples of Device::chunk_bytes(). The caller keeps the memory while it is mapped. protect() says what may
  /// be done, unmap() takes it away. For the three: one thread at a time, as for all here; kernels and copies that run
  /// meanwhile may use other parts of the buffer, and other mappings of the memory. Errors: InvalidValue for a range
  /// that is not of whole chunks inside of the buffer, OutOfMemory.
  virtual Result<> map(uint64_t /*offset*/, const Memory& /*memory*/, uint64_t /*from*/, uint64_t /*size*/) {
    return not_shareable();
  }
  /// The memory keeps its contents; the range has no backing then. Nothing uses it. Errors: as map().
  virtual Result<> unmap(uint64_t /*offset*/, uint64_t /*size*/) { return not_shareable(); }
  /// Of a range that is mapped. Nothing is under way in it that `access` will not allow. Errors: as map().
  virtual Result<> protect(uint64_t /*offset*/, uint64_t /*size*/, Access) { return not_shareable(); }

  static std::unexpected<Error> not_shareable() {
    return fail(ErrorCode::NotSupported, "this device's memory can be neither mapped nor shared");
  }
};

}  // namespace cupola::hal
