// The thread's last error, and what errors are called.

#include <atomic>

#include "base/log.h"
#include "cuda/cudart/api.h"
#include "cuda/cudart/error.h"
#include "cuda/cudart/public.h"

namespace cupola::cudart {
namespace {

struct ThreadErrors {
  cudaError_t last;
  cudaError_t sticky;     ///< an error that broke the context; stays until cudaDeviceReset
  unsigned sticky_epoch;  ///< the reset count when it was met
};
constinit thread_local ThreadErrors errors{};  // no destructor: usable while the process ends
constinit std::atomic<unsigned> reset_epoch = 0;

/// After these the context is lost: every later call fails with the same error ("CUDA Runtime API, cudaError").
bool breaks_context(cudaError_t error) {
  switch (static_cast<int>(error)) {
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

cudaError_t current_error() {
  if (errors.sticky != cudaSuccess && errors.sticky_epoch == reset_epoch.load(std::memory_order_relaxed)) {
    return errors.sticky;
  }
  return errors.last;
}

}  // namespace

void record_error(cudaError_t error) {
  if (error == cudaSuccess) return;
  errors.last = error;
  if (breaks_context(error)) {
    errors.sticky = error;
    errors.sticky_epoch = reset_epoch.load(std::memory_order_relaxed);
  }
}

void forget_sticky_errors() {
  reset_epoch.fetch_add(1, std::memory_order_relaxed);
  errors.last = cudaSuccess;
}

cudaError_t finish(const char* call, const Result<>& result) {
  if (result) {
    log::line(log::Topic::Api, "{} = cudaSuccess", call);
    return cudaSuccess;
  }
  auto error = static_cast<cudaError_t>(result.error().code);
  record_error(error);
  log::line(log::Topic::Api, "{} = {}", call, cudaGetErrorName(error));
  if (!result.error().message.empty()) log::line(log::Topic::Error, "{}: {}", call, result.error().message);
  return error;
}

Result<> given(const void* pointer, const char* what) {
  if (pointer) return {};
  return fail(ErrorCode::InvalidValue, "{} is null", what);
}

}  // namespace cupola::cudart

using namespace cupola::cudart;

cudaError_t cudaGetLastError(void) {
  cudaError_t error = current_error();
  errors.last = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError(void) {
  return current_error();
}

const char* cudaGetErrorName(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define CUDART_ERROR(name, number, text) \
  case number:                           \
    return #name;
#include "cuda/cudart/cuda_errors.def"
#undef CUDART_ERROR
  }
  return "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define CUDART_ERROR(name, number, text) \
  case number:                           \
    return text;
#include "cuda/cudart/cuda_errors.def"
#undef CUDART_ERROR
  }
  return "unrecognized error code";
}
