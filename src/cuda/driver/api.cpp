#include "cuda/driver/api.h"

#include <unordered_set>

#include "base/log.h"

namespace cupola::driver {
namespace {

constexpr size_t kMostMessages = 1000;

/// True the first time a message comes.
bool is_new(const std::string& message) {
  static auto* const mutex = new Mutex;  // leaked: calls come after static destructors
  static auto* const seen = new std::unordered_set<std::string>;
  Lock lock(*mutex);
  return seen->size() < kMostMessages && seen->insert(message).second;
}

/// A kernel's fault: the device has said it when it happened, and every later call meets it again.
bool is_fault(ErrorCode code) {
  return code == ErrorCode::IllegalAddress || code == ErrorCode::LaunchTimeout || code == ErrorCode::Assert ||
         code == ErrorCode::HardwareStackError || code == ErrorCode::IllegalInstruction ||
         code == ErrorCode::MisalignedAddress || code == ErrorCode::InvalidAddressSpace ||
         code == ErrorCode::InvalidPc || code == ErrorCode::LaunchFailed;
}

}  // namespace

CUresult finish(const char* call, const Result<>& result) {
  if (result) {
    log::line(log::Topic::Api, "{} = CUDA_SUCCESS", call);
    return CUDA_SUCCESS;
  }
  const Error& error = result.error();
  log::line(log::Topic::Api, "{} = {} ({})", call, static_cast<int>(error.code), error.message);
  const bool spoken = error.message.empty() || is_fault(error.code);
  if (!spoken && is_new(error.message)) log::line(log::Topic::Error, "{}: {}", call, error.message);
  return static_cast<CUresult>(error.code);
}

Result<> check_ready() {
  if (Runtime::forked())
    return fail(
        ErrorCode::NotInitialized,
        "this process is a child of fork(), into which the device does not come along: use the device in one of the "
        "two processes only, or start the child with exec");
  if (!Runtime::initialised()) return fail(ErrorCode::NotInitialized, "cuInit was not called");
  return {};
}

Result<> given(const void* pointer, const char* what) {
  if (pointer) return {};
  return fail(ErrorCode::InvalidValue, "{} is null", what);
}

}  // namespace cupola::driver
