// The thread's last error, and what errors are called.

#include <utility>

#include "base/log.h"
#include "cuda/cudart/api.h"
#include "cuda/cudart/error.h"
#include "cuda/cudart/public.h"

namespace cupola::cudart {
namespace {

constinit thread_local cudaError_t last_error = cudaSuccess;  // no destructor: usable while the process ends

}  // namespace

void record_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
}

void forget_error() {
  last_error = cudaSuccess;
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
  return std::exchange(last_error, cudaSuccess);
}

cudaError_t cudaPeekAtLastError(void) {
  return last_error;
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
