#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/result.h"

namespace cupola::cpu {

/// While it lives, the contents of a range are copied to where they will lie: the range is read-only meanwhile, and a
/// thread that writes there waits and then repeats its instruction. System calls that would write there fail with
/// EFAULT, as they do for any memory that is not writable. One move at a time; others wait.
class MovingMemory {
 public:
  /// Error: NotSupported when too many ranges have moved in this process.
  static Result<std::unique_ptr<MovingMemory>> begin(const std::byte* address, uint64_t size);
  ~MovingMemory();

  /// Sees to it that faults are looked at here before anything that is installed later looks. Any thread.
  static void prepare();

 private:
  MovingMemory();
  Lock one_move_;
  size_t place_ = 0;  ///< in the table of ranges
};

}  // namespace cupola::cpu
