// Events. "CUDA Driver API, Event Management".

#include "runtime/event.h"

#include "cuda/driver/api.h"
#include "runtime/memory_pool.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuEventCreate(CUevent* phEvent, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    TRY(given(phEvent, "phEvent"));
    const unsigned all = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (Flags & ~all) return fail(ErrorCode::InvalidValue, "the event flags {:#x} are not valid", Flags);
    if ((Flags & CU_EVENT_INTERPROCESS) && !(Flags & CU_EVENT_DISABLE_TIMING))
      return fail(ErrorCode::InvalidValue, "an interprocess event must be made without timing");
    TRY(std::shared_ptr<Context> context, current_context());
    std::shared_ptr<SharedEvent> shared;
    if (Flags & CU_EVENT_INTERPROCESS) {
      TRY(shared, SharedEvent::make());
    }
    auto event = std::make_shared<Event>(*context, !(Flags & CU_EVENT_DISABLE_TIMING), std::move(shared));
    *phEvent = handle_of<CUevent>(Runtime::get().events.add(std::move(event)));
    return {};
  });
}

CUresult cuEventRecordWithFlags(CUevent hEvent, CUstream hStream, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Event> event, Runtime::get().event(hEvent));
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    const std::shared_ptr<Capture> capture = stream->capture();
    const bool external = flags == CU_EVENT_RECORD_EXTERNAL && capture;
    if (flags != CU_EVENT_RECORD_DEFAULT && !external)
      return fail(flags == CU_EVENT_RECORD_EXTERNAL ? ErrorCode::IllegalState : ErrorCode::InvalidValue,
                  "flags are {:#x}; outside of capture they must be 0", flags);
    if (&event->context() != &stream->context())
      return fail(ErrorCode::InvalidHandle, "the event and the stream belong to different contexts");
    if (!external) return event->record(*stream);
    TRY(capture->add(*stream, RecordWork{std::move(event)}));
    return {};
  });
}

CUresult cuEventRecord(CUevent hEvent, CUstream hStream) {
  return forwarded([&] { return cuEventRecordWithFlags(hEvent, hStream, CU_EVENT_RECORD_DEFAULT); });
}

CUresult cuEventQuery(CUevent hEvent) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Event> event, Runtime::get().event(hEvent));
    TRY(check_unsafe_call("asking an event"));
    TRY(event->check_not_captured());
    TRY(event->context().check());
    if (!event->happened()) return refuse(ErrorCode::NotReady);
    return {};
  });
}

CUresult cuEventSynchronize(CUevent hEvent) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Event> event, Runtime::get().event(hEvent));
    TRY(check_unsafe_call("waiting for an event"));
    TRY(event->check_not_captured());
    const Result<> waited = event->wait();
    event->context().device().hal().flush_output();
    MemoryPools::get().synchronised(event->context().device());
    TRY(Result<>(waited));
    return event->context().check();
  });
}

CUresult cuEventDestroy_v2(CUevent hEvent) {
  return api_call([&]() -> Result<> {
    if (!Runtime::get().events.remove(hEvent))
      return fail(ErrorCode::InvalidHandle, "{} is not a live event", static_cast<const void*>(hEvent));
    return {};
  });
}

CUresult cuEventDestroy(CUevent hEvent) {
  return forwarded([&] { return cuEventDestroy_v2(hEvent); });
}

CUresult cuEventElapsedTime_v2(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return api_call([&]() -> Result<> {
    TRY(given(pMilliseconds, "pMilliseconds"));
    TRY(std::shared_ptr<Event> start, Runtime::get().event(hStart));
    TRY(std::shared_ptr<Event> end, Runtime::get().event(hEnd));
    if (&start->context() != &end->context())
      return fail(ErrorCode::InvalidHandle, "the events belong to different contexts");
    TRY(*pMilliseconds, Event::elapsed(*start, *end));
    return {};
  });
}

CUresult cuEventElapsedTime(float* pMilliseconds, CUevent hStart, CUevent hEnd) {
  return forwarded([&] { return cuEventElapsedTime_v2(pMilliseconds, hStart, hEnd); });
}

// ---- contexts ----

namespace {

/// "The API will return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED if the specified context has a stream in the capture
/// mode. In such a case, the call will invalidate all the conflicting captures."
Result<std::shared_ptr<Context>> uncaptured_context(CUcontext handle) {
  TRY(std::shared_ptr<Context> context, handle ? Runtime::get().context(handle) : current_context());
  TRY(context->check());
  if (context->order()->invalidate_captures(false))
    return fail(ErrorCode::StreamCaptureUnsupported, "a stream of the context is captured: end the capture first");
  return context;
}

}  // namespace

CUresult cuCtxRecordEvent(CUcontext hCtx, CUevent hEvent) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Event> event, Runtime::get().event(hEvent));
    TRY(std::shared_ptr<Context> context, uncaptured_context(hCtx));
    if (&event->context() != context.get())
      return fail(ErrorCode::InvalidHandle, "the event belongs to another context");
    return event->record_context();
  });
}

CUresult cuCtxWaitEvent(CUcontext hCtx, CUevent hEvent) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Event> event, Runtime::get().event(hEvent));
    TRY(std::shared_ptr<Context> context, uncaptured_context(hCtx));
    if (auto result = event->check_not_captured(); !result)
      return fail(ErrorCode::StreamCaptureUnsupported, "{}", result.error().message);
    context->order()->hold(event->ticket());
    return {};
  });
}
