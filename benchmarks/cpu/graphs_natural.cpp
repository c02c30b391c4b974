#include "graphs.h"

#include <utility>

namespace bench::BENCH_BY {
namespace {

void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[columns[i]];
    y[row] = sum;
  }
}

void breadth_first(const int* offsets, const int* neighbours, int* distances, int* frontier, int* next, int vertices) {
#pragma omp parallel for
  for (int i = 0; i < vertices; ++i) distances[i] = i == 0 ? 0 : -1;
  frontier[0] = 0;
  int count = 1;
  for (int level = 1; count > 0; ++level) {
    int found = 0;
#pragma omp parallel for schedule(dynamic, 256)
    for (int f = 0; f < count; ++f)
      for (int e = offsets[frontier[f]]; e < offsets[frontier[f] + 1]; ++e) {
        const int vertex = neighbours[e];
        int unseen = -1;
        if (!__atomic_compare_exchange_n(&distances[vertex], &unseen, level, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
          continue;
        int place;
#pragma omp atomic capture
        place = found++;
        next[place] = vertex;
      }
    count = found;
    std::swap(frontier, next);
  }
}

}  // namespace

const Graphs graphs = {spmv, breadth_first};

}  // namespace bench::BENCH_BY
