#pragma once

#include "loops.h"

namespace bench {

constexpr float kSoftening = 0.01f;
constexpr float kRate = 0.02f, kVolatility = 0.3f;  ///< of the options

/// Each path of the Monte Carlo estimate has a generator of its own (xorshift, by George Marsaglia).
constexpr int kSteps = 256;

struct Bodies {
  /// Bodies are x, y, z, mass; forces three numbers each.
  void (*forces)(const float* bodies, float* forces, int n);
  void (*black_scholes)(const float* price, const float* strike, const float* years, float* call, float* put, int n);
  /// hits[i] = how many of path i's points lie in the quarter circle.
  void (*monte_carlo)(int* hits, int paths);
};

BENCH_LOOPS(Bodies, bodies)

}  // namespace bench
