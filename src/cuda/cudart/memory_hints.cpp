// What is known of managed memory, and attributes of streams: hints that are kept. "CUDA Runtime API, Memory
// Management" and "Stream Management".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaMemRangeGetAttribute(void* data, size_t dataSize, cudaMemRangeAttribute attribute, const void* devPtr,
                                     size_t count) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemRangeGetAttribute(data, dataSize, static_cast<CUmem_range_attribute>(attribute),
                                           address(devPtr), count));
  });
}

cudaError_t cudaMemRangeGetAttributes(void** data, size_t* dataSizes, cudaMemRangeAttribute* attributes,
                                      size_t numAttributes, const void* devPtr, size_t count) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemRangeGetAttributes(data, dataSizes, reinterpret_cast<CUmem_range_attribute*>(attributes),
                                            numAttributes, address(devPtr), count));
  });
}

// ---- batches ----

namespace {

CUdeviceptr* addresses(void** pointers) {
  return reinterpret_cast<CUdeviceptr*>(pointers);
}
CUmemLocation* locations(cudaMemLocation* same) {
  return reinterpret_cast<CUmemLocation*>(same);  // one layout under two names
}

}  // namespace

cudaError_t cudaMemPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count, cudaMemLocation* prefetchLocs,
                                      size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                      cudaStream_t stream) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemPrefetchBatchAsync(addresses(dptrs), sizes, count, locations(prefetchLocs), prefetchLocIdxs,
                                            numPrefetchLocs, flags, stream));
  });
}

cudaError_t cudaMemDiscardBatchAsync(void** dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                     cudaStream_t stream) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemDiscardBatchAsync(addresses(dptrs), sizes, count, flags, stream));
  });
}

cudaError_t cudaMemDiscardAndPrefetchBatchAsync(void** dptrs, size_t* sizes, size_t count,
                                                cudaMemLocation* prefetchLocs, size_t* prefetchLocIdxs,
                                                size_t numPrefetchLocs, unsigned long long flags, cudaStream_t stream) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuMemDiscardAndPrefetchBatchAsync(addresses(dptrs), sizes, count, locations(prefetchLocs),
                                                      prefetchLocIdxs, numPrefetchLocs, flags, stream));
  });
}

// ---- streams ----

static_assert(sizeof(cudaStreamAttrValue) == sizeof(CUstreamAttrValue));

cudaError_t cudaStreamSetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, const cudaStreamAttrValue* value) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuStreamSetAttribute(hStream, static_cast<CUstreamAttrID>(attr),
                                         reinterpret_cast<const CUstreamAttrValue*>(value)));
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t hStream, cudaStreamAttrID attr, cudaStreamAttrValue* value_out) {
  return with_context([&](const Driver& cu) {
    return check(cu.cuStreamGetAttribute(hStream, static_cast<CUstreamAttrID>(attr),
                                         reinterpret_cast<CUstreamAttrValue*>(value_out)));
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src) {
  return with_context([&](const Driver& cu) { return check(cu.cuStreamCopyAttributes(dst, src)); });
}
