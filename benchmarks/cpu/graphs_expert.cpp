#include "graphs.h"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "simd.h"

namespace bench::expert {
namespace {

/// Threads get equal numbers of entries, not of rows; full vectors first, then a row's rest.
void spmv(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows) {
#pragma omp parallel
  {
    const int64_t entries = offsets[rows];
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const auto first_row = [&](int thread) {
      return thread == threads
                 ? rows
                 : static_cast<int>(std::lower_bound(offsets, offsets + rows, entries * thread / threads) - offsets);
    };
    const int end = first_row(me + 1);
    for (int row = first_row(me); row < end; ++row) {
      Floats sums{};
      int i = offsets[row];
      for (; i + kLanes <= offsets[row + 1]; i += kLanes) {
        Floats gathered;
        for (int lane = 0; lane < kLanes; ++lane) gathered[lane] = x[columns[i + lane]];
        sums += load(values + i) * gathered;
      }
      float rest = 0;
      for (; i < offsets[row + 1]; ++i) rest += values[i] * x[columns[i]];
      y[row] = sum(sums) + rest;
    }
  }
}

/// A look before each compare-and-swap, and a buffer a thread for what it finds.
void breadth_first(const int* offsets, const int* neighbours, int* distances, int* frontier, int* next, int vertices) {
  constexpr int kBuffer = 1024;
  int count = 1, found = 0;
#pragma omp parallel
  {
    int buffer[kBuffer], held = 0;
    const auto flush = [&] {
      const int place = __atomic_fetch_add(&found, held, __ATOMIC_RELAXED);
      std::copy_n(buffer, held, next + place);
      held = 0;
    };
#pragma omp for
    for (int i = 0; i < vertices; ++i) distances[i] = i == 0 ? 0 : -1;
#pragma omp single
    frontier[0] = 0;
    for (int level = 1; count > 0; ++level) {
#pragma omp for schedule(dynamic, 256)
      for (int f = 0; f < count; ++f)
        for (int e = offsets[frontier[f]]; e < offsets[frontier[f] + 1]; ++e) {
          int* distance = &distances[neighbours[e]];
          int unseen = -1;
          if (__atomic_load_n(distance, __ATOMIC_RELAXED) != -1 ||
              !__atomic_compare_exchange_n(distance, &unseen, level, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
          buffer[held++] = neighbours[e];
          if (held == kBuffer) flush();
        }
      if (held > 0) flush();
#pragma omp barrier
#pragma omp single
      {
        count = std::exchange(found, 0);
        std::swap(frontier, next);
      }
    }
  }
}

}  // namespace

const Graphs graphs = {spmv, breadth_first};

}  // namespace bench::expert
