#pragma once

#ifdef __CUDACC__
#define BENCH_BOTH __host__ __device__
#else
#define BENCH_BOTH
#endif

namespace bench {

/// A number without pattern made from `i`, the same on every machine.
BENCH_BOTH static inline unsigned hash(unsigned i) {
  i = (i ^ (i >> 16)) * 0x7feb352du;
  i = (i ^ (i >> 15)) * 0x846ca68bu;
  return i ^ (i >> 16);
}

}  // namespace bench
