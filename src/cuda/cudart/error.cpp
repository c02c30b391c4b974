// The thread's last error, and what errors are called.

#include <utility>

#include "base/log.h"
#include "cuda/cudart/api.h"
#include "cuda/cudart/error.h"
#include "cuda/cudart/public.h"

namespace cupola::cudart {
namespace {

constinit thread_local cudaError_t last_error = cudaSuccess;  // no destructor: usable while the process ends

struct Words {
  const char *name, *text;
};

Words words_of(cudaError_t error) {
  switch (static_cast<int>(error)) {
#define CUDART_ERROR(name, number, text) \
  case number:                           \
    return {#name, text};
#include "cuda/cudart/cuda_errors.def"
#undef CUDART_ERROR
  }
  return {"unrecognized error code", "unrecognized error code"};
}

}  // namespace

void record_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
}

void forget_error() {
  last_error = cudaSuccess;
}

cudaError_t finish(const char* call, const Result<>& result) {
  const bool outermost = trace::depth() == 1;  // others are not the program's calls, or are logged by forwarded()
  if (result) {
    if (outermost) log::line(log::Topic::Api, "{} = cudaSuccess", call);
    return cudaSuccess;
  }
  auto error = static_cast<cudaError_t>(result.error().code);
  record_error(error);
  if (outermost) log_forwarded(call, error);
  if (!result.error().message.empty()) log::line(log::Topic::Error, "{}: {}", call, result.error().message);
  return error;
}

void log_forwarded(const char* call, cudaError_t status) {
  log::line(log::Topic::Api, "{} = {}", call, words_of(status).name);
}

Result<> given(const void* pointer, const char* what) {
  if (pointer) return {};
  return fail(ErrorCode::InvalidValue, "{} is null", what);
}

}  // namespace cupola::cudart

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaGetLastError(void) {
  return forwarded([] { return std::exchange(last_error, cudaSuccess); });
}

cudaError_t cudaPeekAtLastError(void) {
  return forwarded([] { return last_error; });
}

const char* cudaGetErrorName(cudaError_t error) {
  const trace::Call traced(trace::Kind::RuntimeCall, __func__);
  return words_of(error).name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const trace::Call traced(trace::Kind::RuntimeCall, __func__);
  return words_of(error).text;
}
