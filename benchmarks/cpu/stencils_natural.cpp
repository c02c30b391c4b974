#include "stencils.h"

namespace bench::BENCH_BY {
namespace {

void five_points(const float* x, float* y, int width, int height) {
#pragma omp parallel for
  for (int row = 0; row < height; ++row) {
    const float* in = x + row * width;
    float* out = y + row * width;
    const bool border = row == 0 || row == height - 1;
    out[0] = in[0];
    out[width - 1] = in[width - 1];
#pragma omp simd
    for (int i = 1; i < width - 1; ++i)
      out[i] = border ? in[i] : 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
  }
}

void seven_points(const float* x, float* y, int n) {
#pragma omp parallel for collapse(2)
  for (int z = 0; z < n; ++z)
    for (int row = 0; row < n; ++row) {
      const float* in = x + (z * n + row) * n;
      float* out = y + (z * n + row) * n;
      const bool border = z == 0 || z == n - 1 || row == 0 || row == n - 1;
      out[0] = in[0];
      out[n - 1] = in[n - 1];
#pragma omp simd
      for (int i = 1; i < n - 1; ++i)
        out[i] = border ? in[i]
                        : 0.4f * in[i] +
                              0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
    }
}

void convolution(const float* image, const float* weights, float* result, int width, int height) {
  const int pitch = width + kFilter - 1;
#pragma omp parallel for
  for (int row = 0; row < height; ++row)
#pragma omp simd
    for (int column = 0; column < width; ++column) {
      float sum = 0;
      for (int i = 0; i < kFilter; ++i)
        for (int k = 0; k < kFilter; ++k) sum += weights[i * kFilter + k] * image[(row + i) * pitch + column + k];
      result[row * width + column] = sum;
    }
}

}  // namespace

const Stencils stencils = {five_points, seven_points, convolution};

}  // namespace bench::BENCH_BY
