#include "transposes.h"

namespace bench::BENCH_BY {
namespace {

/// Results are written in order; what is read is not.
void transpose(const float* x, float* y, int n) {
#pragma omp parallel for
  for (int row = 0; row < n; ++row)
#pragma omp simd
    for (int column = 0; column < n; ++column) y[row * n + column] = x[column * n + row];
}

}  // namespace

const Transposes transposes = {transpose};

}  // namespace bench::BENCH_BY
