#pragma once

#include "base/result.h"
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
};

}  // namespace cupola::hal
