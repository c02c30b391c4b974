#pragma once

#include <cstdint>

#include "loops.h"

namespace bench {

constexpr int kSmall = 16;  ///< rows and columns of the small matrices

struct Matrices {
  void (*product)(const float* a, const float* b, float* c, int n);
  /// y = a x, of so many rows and columns.
  void (*matrix_vector)(const float* a, const float* x, float* y, int rows, int columns);
  void (*small_products)(const float* a, const float* b, float* c, int count);
  /// sums[i] = the dot product of rows i of a and b.
  void (*int8_dots)(const int8_t* a, const int8_t* b, int* sums, int rows, int columns);
};

BENCH_LOOPS(Matrices, matrices)

}  // namespace bench
