// Streams. "CUDA Runtime API, Stream Management".

#include <memory>

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

namespace {

struct Callback {
  cudaStreamCallback_t function;
  void* user_data;
};

void run_callback(CUstream stream, CUresult status, void* data) {
  std::unique_ptr<Callback> callback(static_cast<Callback*>(data));
  callback->function(stream, static_cast<cudaError_t>(status), callback->user_data);
}

}  // namespace

cudaError_t cudaStreamCreate(cudaStream_t* pStream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pStream, "pStream"));
    return check(cu.cuStreamCreate(pStream, cudaStreamDefault));
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* pStream, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pStream, "pStream"));
    return check(cu.cuStreamCreate(pStream, flags));
  });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* pStream, unsigned int flags, int priority) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pStream, "pStream"));
    return check(cu.cuStreamCreateWithPriority(pStream, flags, priority));
  });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return with_context([&](const Driver& cu) -> Result<> {
    if (!stream || stream == cudaStreamLegacy || stream == cudaStreamPerThread) {
      return fail(ErrorCode::InvalidHandle, "a default stream cannot be destroyed");
    }
    return check(cu.cuStreamDestroy(stream));
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamSynchronize(stream)); });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamQuery(stream)); });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamWaitEvent(stream, event, flags)); });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void* userData,
                                  unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(reinterpret_cast<const void*>(callback), "callback"));
    auto data = std::make_unique<Callback>(callback, userData);
    TRY(check(cu.cuStreamAddCallback(stream, run_callback, data.get(), flags)));
    data.release();  // run_callback owns it now
    return {};
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t hStream, unsigned int* flags) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamGetFlags(hStream, flags)); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t hStream, int* priority) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamGetPriority(hStream, priority)); });
}

cudaError_t cudaStreamGetId(cudaStream_t hStream, unsigned long long* streamId) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamGetId(hStream, streamId)); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t hStream, int* device) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamGetDevice(hStream, device)); });
}

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* devPtr, size_t length, unsigned int flags) {
  return with_context(
      [&](const Driver& cu) { return check(cu.cuStreamAttachMemAsync(stream, address(devPtr), length, flags)); });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* pCaptureStatus) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(pCaptureStatus, "pCaptureStatus"));
    CUstreamCaptureStatus status{};
    TRY(check(cu.cuStreamIsCapturing(stream, &status)));
    *pCaptureStatus = static_cast<cudaStreamCaptureStatus>(status);
    return {};
  });
}
