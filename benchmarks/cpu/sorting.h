#pragma once

#include <cstdint>

#include "loops.h"

namespace bench {

constexpr int kDigits = 256;  ///< of a pass of the radix sort

struct Sorting {
  /// n is a power of two.
  void (*bitonic)(uint32_t* keys, int n);
  /// `other` has room for n keys, and the result is in `keys`.
  void (*radix)(uint32_t* keys, uint32_t* other, int n);
};

BENCH_LOOPS(Sorting, sorting)

}  // namespace bench
