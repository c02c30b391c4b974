// Streams. "CUDA Driver API, Stream Management".

#include "runtime/stream.h"

#include <algorithm>

#include "cuda/driver/launch_attributes.h"
#include "runtime/host_function.h"
#include "runtime/memory_pool.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuStreamCreateWithPriority(CUstream* phStream, unsigned int flags, int priority) {
  return api_call([&]() -> Result<> {
    TRY(given(phStream, "phStream"));
    if (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING))
      return fail(ErrorCode::InvalidValue, "the stream flags {:#x} are not valid", flags);
    TRY(std::shared_ptr<Context> context, current_context());
    // A priority outside the range is brought into it, as documented.
    priority = std::clamp(priority, kGreatestPriority, kLeastPriority);
    TRY(std::shared_ptr<Stream> stream, Stream::make(*context, Stream::Kind::Created, flags, priority));
    if (priority) {
      CUstreamAttrValue value{};
      value.priority = priority;
      Lock lock(stream->attributes_mutex);
      TRY(set_attribute(AttributeOf::Stream, stream->attributes, CU_LAUNCH_ATTRIBUTE_PRIORITY, value));
    }
    *phStream = handle_of<CUstream>(Runtime::get().streams.add(std::move(stream)));
    return {};
  });
}

CUresult cuStreamCreate(CUstream* phStream, unsigned int Flags) {
  return forwarded([&] { return cuStreamCreateWithPriority(phStream, Flags, 0); });
}

CUresult cuStreamDestroy_v2(CUstream hStream) {
  return api_call([&]() -> Result<> {
    if (!Runtime::get().streams.remove(hStream))
      return fail(ErrorCode::InvalidHandle, "{} is not a live stream of cuStreamCreate",
                  static_cast<const void*>(hStream));
    return {};
  });
}

CUresult cuStreamDestroy(CUstream hStream) {
  return forwarded([&] { return cuStreamDestroy_v2(hStream); });
}

CUresult cuStreamGetFlags(CUstream hStream, unsigned int* flags) {
  return api_call([&]() -> Result<> {
    TRY(given(flags, "flags"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    *flags = stream->flags();
    return {};
  });
}

CUresult cuStreamGetId(CUstream hStream, unsigned long long* streamId) {
  return api_call([&]() -> Result<> {
    TRY(given(streamId, "streamId"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    *streamId = stream->id();
    return {};
  });
}

CUresult cuStreamGetDevice(CUstream hStream, CUdevice* device) {
  return api_call([&]() -> Result<> {
    TRY(given(device, "device"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    *device = stream->context().device().ordinal();
    return {};
  });
}

CUresult cuStreamGetCtx(CUstream hStream, CUcontext* pctx) {
  return api_call([&]() -> Result<> {
    TRY(given(pctx, "pctx"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    *pctx = handle_of<CUcontext>(&stream->context());
    return {};
  });
}

CUresult cuStreamWaitEvent(CUstream hStream, CUevent hEvent, unsigned int Flags) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Event> event, Runtime::get().event(hEvent));
    TRY(std::shared_ptr<Stream> stream, capturable_stream(hStream));
    const std::shared_ptr<Capture> capture = stream->capture();
    const bool external = Flags == CU_EVENT_WAIT_EXTERNAL && capture;
    if (Flags != CU_EVENT_WAIT_DEFAULT && !external)
      return fail(ErrorCode::InvalidValue, "Flags are {:#x}; outside of capture they must be 0", Flags);
    if (!external) return event->hold(stream);
    TRY(capture->add(*stream, WaitWork{std::move(event)}));
    return {};
  });
}

CUresult cuStreamAddCallback(CUstream hStream, CUstreamCallback callback, void* userData, unsigned int flags) {
  return api_call([&]() -> Result<> {
    if (!callback) return fail(ErrorCode::InvalidValue, "callback is null");
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    TRY(std::shared_ptr<Stream> stream, usable_stream(hStream));
    stream->submit(hal::Callback{[=](const Error* error) {
      const InHostFunction scope;
      callback(hStream, error ? static_cast<CUresult>(error->code) : CUDA_SUCCESS, userData);
    }});
    return {};
  });
}

CUresult cuStreamQuery(CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Stream> stream, usable_stream(hStream));
    if (!stream->idle()) return refuse(ErrorCode::NotReady);
    return {};
  });
}

CUresult cuStreamSynchronize(CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    TRY(stream->check_not_captured());
    const Result<> waited = stream->mark().wait();
    stream->context().device().hal().flush_output();
    MemoryPools::get().synchronised(stream->context().device());
    TRY(Result<>(waited));
    return stream->context().check();
  });
}

// Managed memory is always visible to all: attaching changes nothing.
// "length must be either zero or the entire allocation's size"; "it's an error to attach singly to the NULL stream".
CUresult cuStreamAttachMemAsync(CUstream hStream, CUdeviceptr dptr, size_t length, unsigned int flags) {
  return api_call([&]() -> Result<> {
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST && flags != CU_MEM_ATTACH_SINGLE)
      return fail(ErrorCode::InvalidValue, "flags are {:#x}; give one of CUmemAttach_flags", flags);
    TRY(std::shared_ptr<Stream> stream, usable_stream(hStream));
    if (flags == CU_MEM_ATTACH_SINGLE && stream->kind() == Stream::Kind::Legacy)
      return fail(ErrorCode::InvalidValue, "memory is attached to the legacy default stream alone; give a stream");
    const auto range = Runtime::get().addresses.find(dptr);
    if (!range) return {};
    if (range->kind != MemoryKind::Managed) return fail(ErrorCode::InvalidValue, "{:#x} is not managed memory", dptr);
    if (length && (dptr != range->address || length != range->size))
      return fail(ErrorCode::InvalidValue, "{} bytes are a part of the allocation; give 0 for all of it", length);
    return {};
  });
}
