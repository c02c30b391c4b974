#pragma once

// nvcuda::experimental::awbarrier, which cuda::barrier replaces: a barrier in shared memory that splits arriving from
// waiting.

#include "cuda_awbarrier_primitives.h"

#if defined(__CUDA__) && defined(__cplusplus)

#pragma push_macro("CUPOLA_DEVICE")
#define CUPOLA_DEVICE __device__ __inline__ __attribute__((always_inline))

namespace nvcuda {
namespace experimental {

class awbarrier {
 public:
  class arrival_token {
   public:
    arrival_token() = default;
    CUPOLA_DEVICE uint32_t pending_count() const { return __mbarrier_token_pending_count(token_); }

   private:
    CUPOLA_DEVICE explicit arrival_token(__mbarrier_token_t token) : token_(token) {}
    __mbarrier_token_t token_;
    friend class awbarrier;
  };

  awbarrier() = default;
  awbarrier(const awbarrier&) = delete;
  awbarrier& operator=(const awbarrier&) = delete;

  CUPOLA_DEVICE arrival_token arrive() { return arrival_token(__mbarrier_arrive(&barrier_)); }
  CUPOLA_DEVICE arrival_token arrive_and_drop() { return arrival_token(__mbarrier_arrive_and_drop(&barrier_)); }
  /// Whether the phase was over before the device's clock passed `hint`.
  CUPOLA_DEVICE bool timed_wait_until(arrival_token token, unsigned long long hint) {
    while (!__mbarrier_try_wait(&barrier_, token.token_))
      if ((long long)(hint - (unsigned long long)clock64()) < 0) return false;
    return true;
  }
  CUPOLA_DEVICE void wait(arrival_token token) {
    while (!__mbarrier_try_wait(&barrier_, token.token_)) {
    }
  }
  CUPOLA_DEVICE void arrive_and_wait() { wait(arrive()); }
  CUPOLA_DEVICE static constexpr uint32_t max() { return (1u << 20) - 1; }

 private:
  __mbarrier_t barrier_;
  friend CUPOLA_DEVICE void init(awbarrier* barrier, uint32_t expected);
  friend class pipeline;
};

CUPOLA_DEVICE void init(awbarrier* barrier, uint32_t expected) { __mbarrier_init(&barrier->barrier_, expected); }

}  // namespace experimental
}  // namespace nvcuda

#pragma pop_macro("CUPOLA_DEVICE")

#endif
