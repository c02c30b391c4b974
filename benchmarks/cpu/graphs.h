#pragma once

#include "loops.h"

namespace bench {

/// Compressed rows: row i has the entries offsets[i] to offsets[i + 1].
struct Graphs {
  void (*spmv)(const int* offsets, const int* columns, const float* values, const float* x, float* y, int rows);
  /// distances[i] = the least number of edges from vertex 0; -1 where no way leads. `frontier` and `next` have room for
  /// all vertices.
  void (*breadth_first)(const int* offsets, const int* neighbours, int* distances, int* frontier, int* next,
                        int vertices);
};

BENCH_LOOPS(Graphs, graphs)

}  // namespace bench
