#pragma once

#include <cstdint>

#include "base/result.h"

namespace cupola::hal {

/// What may be done through a mapping.
enum class Access { None, Read, ReadWrite };

/// Device memory without an address: whole chunks, zeroed when made. Ranges map it (Buffer::map), and other processes
/// reach it through a file descriptor. Any thread.
class Memory {
 public:
  virtual ~Memory() = default;

  virtual uint64_t size() const = 0;

  /// Stands for the memory; valid as long as this object. Error: NotSupported when it was not made to be exported.
  virtual Result<int> descriptor() const = 0;
};

}  // namespace cupola::hal
