#pragma once

#include "cuda/cudart/driver.h"

namespace cupola::cudart {

/// The calling thread's context; when it has none, the primary context of its device, which becomes current. A primary
/// context that was reset or released since, by whomever, is initialised again. Error: what the driver says.
Result<CUcontext> current_context(const Driver& cu);

/// The device of the thread's current context, else the one it chose with cudaSetDevice, else 0.
Result<int> current_device(const Driver& cu);

/// The primary context of a device, retained once for the process. Error: InvalidDevice.
Result<CUcontext> primary_context(const Driver& cu, int device);

/// Remembers the device for the thread and makes its primary context current.
Result<> choose_device(const Driver& cu, int device);

/// Ends the primary context of the thread's device, whoever began it, and drops everything the runtime knows about it.
/// Gives back what the runtime itself retained.
Result<> reset_device(const Driver& cu);

}  // namespace cupola::cudart
