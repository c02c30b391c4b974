// Events. "CUDA Runtime API, Event Management".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(event, "event"));
    return check(cu.cuEventCreate(event, cudaEventDefault));
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(event, "event"));
    return check(cu.cuEventCreate(event, flags));
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return with_context([&](const Driver& cu) { return check(cu.cuEventRecord(event, stream)); });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return with_context([&](const Driver& cu) { return check(cu.cuEventRecordWithFlags(event, stream, flags)); });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_context([&](const Driver& cu) { return check(cu.cuEventQuery(event)); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_context([&](const Driver& cu) { return check(cu.cuEventSynchronize(event)); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return with_context([&](const Driver& cu) { return check(cu.cuEventDestroy(event)); });
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(ms, "ms"));
    return check(cu.cuEventElapsedTime(ms, start, end));
  });
}
