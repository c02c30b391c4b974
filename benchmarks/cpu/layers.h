#pragma once

#include "loops.h"

namespace bench {

struct Layers {
  /// Of each row of x.
  void (*softmax)(const float* x, float* y, int rows, int columns);
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float* y, int rows, int columns);
  /// By tanh, as GPT-2 has it.
  void (*gelu)(const float* x, float* y, int n);
};

constexpr float kEpsilon = 1e-5f;
constexpr float kGelu = 0.7978845608f;  ///< sqrt(2 / pi)

BENCH_LOOPS(Layers, layers)

}  // namespace bench
