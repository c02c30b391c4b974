#pragma once

#include "loops.h"

namespace bench {

constexpr int kFilter = 7;  ///< the width of the convolution's filter; images carry a border of half of it

struct Stencils {
  void (*five_points)(const float* x, float* y, int width, int height);
  void (*seven_points)(const float* x, float* y, int n);
  void (*convolution)(const float* image, const float* weights, float* result, int width, int height);
};

BENCH_LOOPS(Stencils, stencils)

}  // namespace bench
