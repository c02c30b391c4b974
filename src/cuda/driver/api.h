#pragma once

#include <memory>

#include "base/guarded.h"
#include "base/result.h"
#include "base/trace.h"
#include "cuda/driver/public.h"
#include "runtime/current_context.h"
#include "runtime/host_function.h"
#include "runtime/runtime.h"

// All that an exported function does is inside of one wrapper, mostly `return api_call([&]() -> Result<> { ... });`. It
// asks for cuInit, refuses in a forked child, keeps exceptions inside, logs and turns the result into its number. The
// few calls that work before cuInit have api_call_before_init(); one that is another one of the API has forwarded();
// and functions of one kind share a function that has the wrapper and takes their names (copy.cpp, array_copy.cpp).

namespace cupola::driver {

using namespace cupola::runtime;

/// Logs the call and returns its status. An error with a message is printed, once per distinct line; one without is an
/// answer, not a mistake.
CUresult finish(const char* call, const Result<>& result);

/// Why the API may not be called: NotInitialized before cuInit and in a forked child; else NotPermitted in a host
/// function of a stream.
Result<> refuse_call();

void log_forwarded(const char* call, CUresult status);

/// For the few calls that work before cuInit.
template <typename Body>
CUresult api_call_before_init(Body&& body, const char* call = __builtin_FUNCTION()) {
  trace::Call traced(trace::Kind::DriverCall, call);
  const Result<> result = guarded(body);
  if (result && !traced.is_watched()) [[likely]]
    return CUDA_SUCCESS;
  const CUresult status = finish(call, result);
  traced.returns(status);
  return status;
}

template <typename Body>
CUresult api_call(Body&& body, const char* call = __builtin_FUNCTION()) {
  const auto whole = [&]() -> Result<> {
    if (!Runtime::is_usable() || InHostFunction::here()) [[unlikely]]
      return refuse_call();
    return body();
  };
  return api_call_before_init(whole, call);
}

/// For a function that is another one of the API: traces and logs show the name that the program called.
template <typename Body>
CUresult forwarded(Body&& body, const char* call = __builtin_FUNCTION()) {
  trace::Call traced(trace::Kind::DriverCall, call);
  const CUresult status = body();
  traced.returns(status);
  if (traced.logged()) [[unlikely]]
    log_forwarded(call, status);
  return status;
}

/// For questions whose refusal is an ordinary answer: nothing is printed.
inline std::unexpected<Error> refuse(ErrorCode code) {
  return fail(Error{code, {}});
}

/// `TRY(given(dptr, "dptr"));`: InvalidValue when a result pointer is null.
Result<> given(const void* pointer, const char* what);

/// The object's handle, as cuda.h's type.
template <typename Handle, typename Object>
Handle handle_of(const Object* object) {
  return reinterpret_cast<Handle>(const_cast<Object*>(object));
}

/// While it lives, the default stream of the thread's calls is the thread's own.
class PerThreadStream {
 public:
  PerThreadStream() { ++ThreadState::get().per_thread_calls; }
  ~PerThreadStream() { --ThreadState::get().per_thread_calls; }
  PerThreadStream(const PerThreadStream&) = delete;
  PerThreadStream& operator=(const PerThreadStream&) = delete;
};

/// The stream, in a context that has no fault. It may be captured: for calls that make a node then. Error:
/// StreamCaptureImplicit for the legacy stream while it would wait for a captured one.
inline Result<std::shared_ptr<Stream>> capturable_stream(CUstream handle) {
  TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(handle));
  TRY(stream->context().check());
  TRY(stream->check_use());
  return stream;
}

/// The same for calls that have no node. Error: also StreamCaptureUnsupported.
inline Result<std::shared_ptr<Stream>> usable_stream(CUstream handle) {
  TRY(std::shared_ptr<Stream> stream, capturable_stream(handle));
  TRY(stream->check_not_captured());
  return stream;
}

}  // namespace cupola::driver
