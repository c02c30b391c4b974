#pragma once

#include <driver_types.h>

namespace cupola::cudart {

/// Makes `error` the calling thread's last error. That a broken context stays broken is the driver's part: it answers
/// every later call with the error, which so becomes the last one again.
void record_error(cudaError_t error);

/// The context is new: called by cudaDeviceReset.
void forget_error();

}  // namespace cupola::cudart
