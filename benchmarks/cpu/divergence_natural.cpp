#include "divergence.h"

namespace bench::BENCH_BY {
namespace {

void mandelbrot(int* counts, int width, int height, int limit) {
#pragma omp parallel for schedule(dynamic)
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) {
      const float x0 = -2.2f + 3.2f * column / width, y0 = -1.2f + 2.4f * row / height;
      float x = 0, y = 0;
      int count = 0;
      for (; count < limit && x * x + y * y <= 4; ++count) {
        const float next = x * x - y * y + x0;
        y = 2 * x * y + y0;
        x = next;
      }
      counts[row * width + column] = count;
    }
}

void ray_march(float* depths, int width, int height) {
#pragma omp parallel for schedule(dynamic)
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; ++column) depths[row * width + column] = march(column, row, width, height);
}

}  // namespace

const Divergence divergence = {mandelbrot, ray_march};

}  // namespace bench::BENCH_BY
