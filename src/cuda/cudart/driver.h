#pragma once

#include <cuda.h>

#include "base/result.h"

namespace cupola::cudart {

/// Every driver function that the runtime calls: the runtime links no libcuda.
struct Driver {
#define DRIVER_CALL(name) decltype(&::name) name = nullptr;
#include "cuda/cudart/driver_calls.def"
#undef DRIVER_CALL
};

/// The driver of the process, opened and initialised at the first call; a failure is remembered too. It is looked for
/// in CUPOLA_LIBRARY_PATH, beside this code, in the folder the static library was built for, and then as plain
/// libcuda.so.1. Error: cudaErrorInsufficientDriver (35) when it is not found, else what cuInit says. Any thread.
Result<const Driver*> driver();

/// While it lives, driver() of this thread gives a table whose functions are the variants for per-thread default
/// streams, where there are such.
class PerThreadStream {
 public:
  PerThreadStream() { ++depth_; }
  ~PerThreadStream() { --depth_; }
  PerThreadStream(const PerThreadStream&) = delete;
  PerThreadStream& operator=(const PerThreadStream&) = delete;
  static bool in_force() { return depth_ > 0; }

 private:
  static constinit thread_local int depth_;
};

/// Replaces the driver, and its variants for per-thread default streams, for the rest of the process: for tests. Null
/// brings the real one back.
void use_driver(const Driver* driver, const Driver* per_thread);

/// A driver's status as a Result; the driver has logged its own words.
Result<> check(CUresult status);

}  // namespace cupola::cudart
