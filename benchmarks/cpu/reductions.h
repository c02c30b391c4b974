#pragma once

#include <cstdint>

#include "loops.h"

namespace bench {

constexpr int kBins = 256;

struct Reductions {
  float (*sum)(const float* x, int n);
  /// y[i] = x[0] + ... + x[i].
  void (*scan)(const int* x, int* y, int n);
  void (*histogram)(const uint8_t* x, int* bins, int n);
};

BENCH_LOOPS(Reductions, reductions)

}  // namespace bench
