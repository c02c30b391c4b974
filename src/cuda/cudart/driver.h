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

/// Replaces the driver for the rest of the process: for tests. Null brings the real one back.
void use_driver(const Driver* driver);

/// A driver's status as a Result; the driver has logged its own words.
Result<> check(CUresult status);

}  // namespace cupola::cudart
