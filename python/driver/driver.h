#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>

// The driver API as the package sees it: libcuda opened by path at the first call, errors as exceptions, the primary
// context of a device made current on whatever thread calls. Any thread, with or without Python's lock.

namespace cupola::python {

/// A call of the driver that failed. Becomes cupola.CudaError.
struct DriverError {
  CUresult code;
  std::string name;     ///< "CUDA_ERROR_INVALID_VALUE"
  std::string message;  ///< one line: the call, what the code means, and the driver's reason
};

/// libcuda cannot be used at all: no file, or one that lacks a function. Becomes ImportError.
struct NoDriver {
  std::string message;
};

/// The functions of calls.def.
struct Calls {
#define CUPOLA_CALL(name) decltype(&::name) name;
#include "calls.def"
};

/// Says which libcuda is opened; without effect once it is.
void set_library(std::string path);

/// The functions, of a driver that is initialised. Throws NoDriver, DriverError.
const Calls& calls();

/// Throws DriverError unless `status` is success. `call` is the function's name. Says the reason that this thread's
/// last failing call gave.
void check(CUresult status, const char* call);

/// Forgets the reason of this thread's last failing call, which nobody may have asked for. Gives the functions.
const Calls& begin_call();

/// `CU(cuMemAlloc(&address, bytes));`
#define CU(call) ::cupola::python::check(::cupola::python::begin_call().call, #call)

/// How often the device's context was reset: objects that were made before must not be handed to the driver again.
uint64_t resets(int device);

/// A device's context from one reset to the next.
struct Lifetime {
  int device = 0;
  uint64_t of_reset = 0;
  bool is_over() const { return of_reset != resets(device); }
};

/// Makes a context current on this thread unless there is one: the primary context of the device that the thread worked
/// with last, at first of device 0.
Lifetime use_context();

/// What `use_context` or `use_device` said last on this thread.
Lifetime used_context();

/// From now on this thread works with the primary context of that device.
void use_device(int device);

/// Ends the device's primary context with all that is in it: memory, modules, streams. The next call begins a new one.
void reset_device(int device);

}  // namespace cupola::python
