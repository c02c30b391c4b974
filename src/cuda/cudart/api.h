#pragma once

#include <driver_types.h>

#include <concepts>
#include <utility>

#include "base/guarded.h"
#include "base/result.h"
#include "base/trace.h"
#include "cuda/cudart/context.h"
#include "cuda/cudart/driver.h"

// Every exported function has the same shape: a body that returns Result<>, wrapped by one of the functions below,
// which find the driver, make a context current where the call needs one, and keep the thread's last error.

namespace cupola::cudart {

/// `cudaErrorX` as the code of an Error.
constexpr ErrorCode code(cudaError_t error) {
  return static_cast<ErrorCode>(error);
}

/// Keeps the error for cudaGetLastError, logs its message with the call's name, and returns its number.
cudaError_t finish(const char* call, const Result<>& result);
void log_forwarded(const char* call, cudaError_t status);

/// A call that needs no driver: body() -> Result<>.
template <typename Body>
cudaError_t without_driver(Body&& body, const char* call = __builtin_FUNCTION()) {
  trace::Call traced(trace::Kind::RuntimeCall, call);
  const Result<> result = guarded(body);
  if (result && !traced.is_watched()) [[likely]]
    return cudaSuccess;
  const cudaError_t status = finish(call, result);
  traced.returns(status);
  return status;
}

/// For a function that is another one of the API: traces and logs show the name that the program called.
template <typename Body>
cudaError_t forwarded(Body&& body, const char* call = __builtin_FUNCTION()) {
  trace::Call traced(trace::Kind::RuntimeCall, call);
  const cudaError_t status = body();
  traced.returns(status);
  if (traced.logged()) [[unlikely]]
    log_forwarded(call, status);
  return status;
}

/// A call that needs no context: body(const Driver&) -> Result<>.
template <typename Body>
cudaError_t with_driver(Body&& body, const char* call = __builtin_FUNCTION()) {
  const auto whole = [&]() -> Result<> {
    TRY(const Driver* cu, driver());
    return body(*cu);
  };
  return without_driver(whole, call);
}

/// A call that needs a context: the thread's current one, else its device's primary context, which becomes current.
template <typename Body>
cudaError_t with_context(Body&& body, const char* call = __builtin_FUNCTION()) {
  const auto whole = [&]() -> Result<> {
    TRY(const Driver* cu, driver());
    TRY(CUcontext context, current_context(*cu));
    if constexpr (std::invocable<Body&, const Driver&, CUcontext>) {
      return body(*cu, context);
    } else {
      return body(*cu);
    }
  };
  return without_driver(whole, call);
}

/// `TRY(given(ptr, "devPtr"));`: fails with cudaErrorInvalidValue when a result pointer is null.
Result<> given(const void* pointer, const char* what);

inline CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}
inline void* pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);
}  // NOLINT(performance-no-int-to-ptr)

}  // namespace cupola::cudart
