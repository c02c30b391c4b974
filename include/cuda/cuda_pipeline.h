#pragma once

// nvcuda::experimental::pipeline, which cuda::pipeline replaces: copies to shared memory in stages that are waited for
// in order. A copy is done at once, which every later wait allows.

#include "cuda_awbarrier.h"
#include "cuda_pipeline_primitives.h"

#if defined(__CUDA__) && defined(__cplusplus)

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE __device__ __inline__ __attribute__((always_inline))

namespace nvcuda {
namespace experimental {

class pipeline {
 public:
  CUPOLA_DEVICE pipeline() : stage_(0) {}
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  /// The number of the stage that ends here.
  CUPOLA_DEVICE size_t commit() {
    __pipeline_commit();
    return stage_++;
  }
  CUPOLA_DEVICE void commit_and_wait() { wait(commit()); }
  CUPOLA_DEVICE void wait(size_t) { __pipeline_wait_prior(0); }
  template <unsigned Stages>
  CUPOLA_DEVICE void wait_prior() {
    __pipeline_wait_prior(Stages);
  }
  CUPOLA_DEVICE void arrive_on(awbarrier& barrier) { __pipeline_arrive_on(&barrier.barrier_); }

 private:
  size_t stage_;
};

template <typename T>
CUPOLA_DEVICE void memcpy_async(T& dst, const T& src, pipeline&) {
  __builtin_memcpy((void*)&dst, &src, sizeof(T));
}
template <typename DstT, typename SrcT>
CUPOLA_DEVICE void memcpy_async(DstT* __restrict__ dst, const SrcT* __restrict__ src, size_t size, size_t zfill,
                                pipeline&) {
  for (size_t i = 0; i < size; ++i) ((char*)dst)[i] = i < size - zfill ? ((const char*)src)[i] : 0;
}

}  // namespace experimental
}  // namespace nvcuda

#pragma pop_macro("CUPOLA_DEVICE")

#endif
