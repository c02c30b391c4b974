#pragma once

#include <cstddef>
#include <cstdint>

#include "base/mutex.h"

namespace cupola::cpu {

/// While it lives, the contents of a range are copied to where they will lie: the range is read-only meanwhile, and a
/// thread that writes there waits and then repeats its instruction. System calls that would write there fail with
/// EFAULT, as they do for any memory that is not writable. One move at a time; others wait.
class MovingMemory {
 public:
  MovingMemory(const std::byte* address, uint64_t size);
  ~MovingMemory();
  MovingMemory(const MovingMemory&) = delete;
  MovingMemory& operator=(const MovingMemory&) = delete;

  /// The memory that begins here ends, and nobody writes there any more; it may have moved.
  static void forget(const std::byte* address);

  /// Sees to it that faults are looked at here before anything that is installed later looks. Any thread.
  static void prepare();

 private:
  const Lock one_move_;
  const uint64_t begin_;
};

}  // namespace cupola::cpu
