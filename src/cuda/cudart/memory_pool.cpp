// Stream-ordered memory. "CUDA Runtime API, Stream Ordered Memory Allocator".

#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

using namespace cupola;
using namespace cupola::cudart;

cudaError_t cudaMallocAsync(void** devPtr, size_t size, cudaStream_t hStream) {
  return with_context([&](const Driver& cu) -> Result<> {
    TRY(given(devPtr, "devPtr"));
    *devPtr = nullptr;
    if (size == 0) return {};
    CUdeviceptr block = 0;
    TRY(check(cu.cuMemAllocAsync(&block, size, hStream)));
    *devPtr = pointer(block);
    return {};
  });
}

cudaError_t cudaFreeAsync(void* devPtr, cudaStream_t hStream) {
  return with_context(
      [&](const Driver& cu) { return devPtr ? check(cu.cuMemFreeAsync(address(devPtr), hStream)) : Result<>{}; });
}
