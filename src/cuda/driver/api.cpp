#include "cuda/driver/api.h"

#include "base/log.h"
#include "cuda/driver/error_log.h"
#include "runtime/host_function.h"

namespace cupola::driver {
namespace {

/// A kernel's fault: the device has said it when it happened, and every later call meets it again.
bool is_fault(ErrorCode code) {
  return code == ErrorCode::IllegalAddress || code == ErrorCode::LaunchTimeout || code == ErrorCode::Assert ||
         code == ErrorCode::HardwareStackError || code == ErrorCode::IllegalInstruction ||
         code == ErrorCode::MisalignedAddress || code == ErrorCode::InvalidAddressSpace ||
         code == ErrorCode::InvalidPc || code == ErrorCode::LaunchFailed;
}

}  // namespace

CUresult finish(const char* call, const Result<>& result) {
  const bool outermost = trace::depth() == 1;  // others are not the program's calls, or are logged by forwarded()
  if (result) {
    if (outermost) log::line(log::Topic::Api, "{} = CUDA_SUCCESS", call);
    return CUDA_SUCCESS;
  }
  const Error& error = result.error();
  if (outermost) log::line(log::Topic::Api, "{} = {} ({})", call, static_cast<int>(error.code), error.message);
  const bool spoken = error.message.empty() || is_fault(error.code);
  if (!error.message.empty()) keep_error(call, error.message);
  if (!spoken) log::line(log::Topic::Error, "{}: {}", call, error.message);
  return static_cast<CUresult>(error.code);
}

void log_forwarded(const char* call, CUresult status) {
  log::line(log::Topic::Api, "{} = {}", call, static_cast<int>(status));
}

Result<> refuse_call() {
  if (Runtime::forked())
    return fail(
        ErrorCode::NotInitialized,
        "this process is a child of fork(), into which the device does not come along: use the device in one of the "
        "two processes only, or start the child with exec");
  if (InHostFunction::here())
    return fail(ErrorCode::NotPermitted,
                "a host function or callback of a stream calls the API, which CUDA does not permit: let it signal a "
                "thread of the program's, which makes the call");
  return fail(ErrorCode::NotInitialized, "cuInit was not called");
}

Result<> given(const void* pointer, const char* what) {
  if (pointer) return {};
  return fail(ErrorCode::InvalidValue, "{} is null", what);
}

}  // namespace cupola::driver
