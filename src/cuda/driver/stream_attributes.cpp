// Attributes of streams. "CUDA Driver API, Stream Management": cuStreamSetAttribute and relatives.

#include "cuda/driver/launch_attributes.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuStreamSetAttribute(CUstream hStream, CUstreamAttrID attr, const CUstreamAttrValue* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    Lock lock(stream->attributes_mutex);
    return set_attribute(AttributeOf::Stream, stream->attributes, attr, *value);
  });
}

CUresult cuStreamGetAttribute(CUstream hStream, CUstreamAttrID attr, CUstreamAttrValue* value_out) {
  return api_call([&]() -> Result<> {
    TRY(given(value_out, "value_out"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    Lock lock(stream->attributes_mutex);
    TRY(*value_out, attribute_value(AttributeOf::Stream, stream->attributes, attr));
    return {};
  });
}

// The priority too, as an H200 (driver 580) has it.
CUresult cuStreamCopyAttributes(CUstream dst, CUstream src) {
  return api_call([&]() -> Result<> {
    TRY(std::shared_ptr<Stream> to, Runtime::get().stream(dst));
    TRY(std::shared_ptr<Stream> from, Runtime::get().stream(src));
    if (&to->context() != &from->context())
      return fail(ErrorCode::InvalidValue, "the streams belong to different contexts");
    LaunchAttributes copied;
    {
      Lock lock(from->attributes_mutex);
      copied = from->attributes;
    }
    Lock lock(to->attributes_mutex);
    to->attributes = std::move(copied);
    return {};
  });
}

CUresult cuStreamGetPriority(CUstream hStream, int* priority) {
  return api_call([&]() -> Result<> {
    TRY(given(priority, "priority"));
    TRY(std::shared_ptr<Stream> stream, Runtime::get().stream(hStream));
    Lock lock(stream->attributes_mutex);
    TRY(const CUstreamAttrValue value,
        attribute_value(AttributeOf::Stream, stream->attributes, CU_LAUNCH_ATTRIBUTE_PRIORITY));
    *priority = value.priority;
    return {};
  });
}
