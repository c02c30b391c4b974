#pragma once

#include "loops.h"

namespace bench {

struct Transposes {
  void (*transpose)(const float* x, float* y, int n);
};

BENCH_LOOPS(Transposes, transposes)

}  // namespace bench
