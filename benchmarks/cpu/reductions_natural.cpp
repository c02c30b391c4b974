#include "reductions.h"

#include <omp.h>

#include <vector>

namespace bench::BENCH_BY {
namespace {

float sum(const float* x, int n) {
  float total = 0;
#pragma omp parallel for simd reduction(+ : total)
  for (int i = 0; i < n; ++i) total += x[i];
  return total;
}

/// Each thread sums its part, then scans it from the sum of the parts before.
void scan(const int* x, int* y, int n) {
  std::vector<int> parts(omp_get_max_threads() + 1);
#pragma omp parallel
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const int begin = static_cast<int>(int64_t{n} * me / threads),
              end = static_cast<int>(int64_t{n} * (me + 1) / threads);
    int part = 0;
#pragma omp simd reduction(+ : part)
    for (int i = begin; i < end; ++i) part += x[i];
    parts[me + 1] = part;
#pragma omp barrier
    int running = 0;
    for (int i = 0; i <= me; ++i) running += parts[i];
    for (int i = begin; i < end; ++i) y[i] = running += x[i];
  }
}

void histogram(const uint8_t* x, int* bins, int n) {
  for (int i = 0; i < kBins; ++i) bins[i] = 0;
#pragma omp parallel for reduction(+ : bins[ : kBins])
  for (int i = 0; i < n; ++i) ++bins[x[i]];
}

}  // namespace

const Reductions reductions = {sum, scan, histogram};

}  // namespace bench::BENCH_BY
