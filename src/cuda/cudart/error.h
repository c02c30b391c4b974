#pragma once

#include <driver_types.h>

namespace cupola::cudart {

/// Makes `error` the calling thread's last error; errors that break the context stay until forget_sticky_errors().
void record_error(cudaError_t error);

/// The context is new: called by cudaDeviceReset.
void forget_sticky_errors();

}  // namespace cupola::cudart
