#pragma once

#include <cmath>

#include "hash.h"
#include "loops.h"

namespace bench {

struct Divergence {
  void (*mandelbrot)(int* counts, int width, int height, int limit);
  /// How far each pixel's ray goes until it meets the scene; kFar where it does not.
  void (*ray_march)(float* depths, int width, int height);
};

constexpr int kMostSteps = 96;
constexpr float kFar = 20;

/// Distance to the scene: balls in a lattice with a ball cut out of it, above a floor.
BENCH_BOTH static inline float scene(float x, float y, float z) {
  const float cx = x - 2 * floorf(0.5f * x) - 1, cz = z - 2 * floorf(0.5f * z) - 1;
  const float balls = sqrtf(cx * cx + y * y + cz * cz) - 0.6f;
  const float hole = 2.5f - sqrtf(x * x + y * y + (z - 4) * (z - 4));
  const float carved = fmaxf(balls, hole);
  return fminf(carved, y + 1);
}

/// The way of one ray from the eye through a pixel.
BENCH_BOTH static inline float march(int column, int row, int width, int height) {
  const float u = (column + 0.5f) / width - 0.5f, v = 0.3f - (row + 0.5f) / height;
  const float scale = 1 / sqrtf(u * u + v * v + 1);
  float depth = 0;
  for (int step = 0; step < kMostSteps; ++step) {
    const float distance = scene(u * scale * depth, 0.8f + v * scale * depth, scale * depth - 2);
    if (distance < 1e-3f) return depth;
    depth += distance;
    if (depth > kFar) return kFar;
  }
  return depth;
}

BENCH_LOOPS(Divergence, divergence)

}  // namespace bench
