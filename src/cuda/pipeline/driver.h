#pragma once

#include <cuda.h>

#include "base/result.h"

namespace cupola::pipeline {

/// Every driver function that the library calls: it links no libcuda.
struct Driver {
#define DRIVER_CALL(name) decltype(&::name) name = nullptr;
#include "cuda/pipeline/driver_calls.def"
#undef DRIVER_CALL
};

/// Cupola's libcuda, opened and initialised at the first call; a failure is remembered. It is looked for in
/// CUPOLA_LIBRARY_PATH, beside this library, then by its name. Error: InsufficientDriver when it is not found, else
/// what cuInit says. Any thread.
Result<const Driver*> driver();

/// A status as a Result, with the driver's words of this thread's last failing call.
Result<> check(const Driver& driver, CUresult status, const char* call);

/// Forgets the words of this thread's last failing call, which nobody may have asked for.
void forget_reason();

/// `TRY(CU(driver, cuMemFree(address)));`
#define CU(driver, call) (::cupola::pipeline::forget_reason(), ::cupola::pipeline::check(driver, (driver).call, #call))

}  // namespace cupola::pipeline
