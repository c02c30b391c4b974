#pragma once

#include "loops.h"

namespace bench {

struct Streaming {
  void (*copy)(const float* x, float* y, int n);
  void (*triad)(float a, const float* x, const float* y, float* z, int n);
  void (*saxpy)(float a, const float* x, float* y, int n);
  /// Scales points of three coordinates and leaves their weights: y[i].xyz = a * x[i].xyz, y[i].w = x[i].w.
  void (*scale_points)(float a, const float* x, float* y, int points);
  float (*dot)(const float* x, const float* y, int n);
};

BENCH_LOOPS(Streaming, streaming)

}  // namespace bench
