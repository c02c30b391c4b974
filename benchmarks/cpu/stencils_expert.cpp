// Rows are multiples of 16 elements. Borders are computed like the inside, where that reads no strange memory, and then
// put right.

#include "simd.h"
#include "stencils.h"

namespace bench::expert {
namespace {

void copy_row(const float* in, float* out, int count) {
  for (int i = 0; i < count; i += kLanes) stream(out + i, load(in + i));
}

void five_points(const float* x, float* y, int width, int height) {
#pragma omp parallel
  {
#pragma omp for nowait
    for (int row = 1; row < height - 1; ++row) {
      const float* in = x + row * width;
      float* out = y + row * width;
      for (int i = 0; i < width; i += kLanes) {
        Floats v = 0.5f * load(in + i) +
                   0.125f * (load(in + i - 1) + load(in + i + 1) + load(in + i - width) + load(in + i + width));
        if (i == 0) v[0] = in[0];
        if (i + kLanes == width) v[kLanes - 1] = in[width - 1];
        stream(out + i, v);
      }
    }
#pragma omp single
    {
      copy_row(x, y, width);
      copy_row(x + (height - 1) * width, y + (height - 1) * width, width);
    }
  }
}

void seven_points(const float* x, float* y, int n) {
#pragma omp parallel for collapse(2)
  for (int z = 0; z < n; ++z)
    for (int row = 0; row < n; ++row) {
      const float* in = x + (z * n + row) * n;
      float* out = y + (z * n + row) * n;
      if (z == 0 || z == n - 1 || row == 0 || row == n - 1) {
        copy_row(in, out, n);
        continue;
      }
      for (int i = 0; i < n; i += kLanes) {
        const float* p = in + i;
        Floats v = 0.4f * load(p) +
                   0.1f * (load(p - 1) + load(p + 1) + load(p - n) + load(p + n) + load(p - n * n) + load(p + n * n));
        if (i == 0) v[0] = in[0];
        if (i + kLanes == n) v[kLanes - 1] = in[n - 1];
        store(out + i, v);
      }
    }
}

/// Two rows of four vectors at a time: each weight and each row of the image is read for two results.
void convolution(const float* image, const float* weights, float* result, int width, int height) {
  constexpr int kWide = 4;
  const int pitch = width + kFilter - 1;
#pragma omp parallel for
  for (int row = 0; row < height; row += 2)
    for (int column = 0; column < width; column += kWide * kLanes) {
      Floats upper[kWide] = {}, lower[kWide] = {};
      for (int i = 0; i <= kFilter; ++i)
        for (int k = 0; k < kFilter; ++k) {
          const float* p = image + (row + i) * pitch + column + k;
          const float above = i < kFilter ? weights[i * kFilter + k] : 0,
                      below = i > 0 ? weights[(i - 1) * kFilter + k] : 0;
          for (int j = 0; j < kWide; ++j) {
            const Floats pixels = load(p + j * kLanes);
            upper[j] += above * pixels;
            lower[j] += below * pixels;
          }
        }
      for (int j = 0; j < kWide; ++j) {
        store(result + row * width + column + j * kLanes, upper[j]);
        store(result + (row + 1) * width + column + j * kLanes, lower[j]);
      }
    }
}

}  // namespace

const Stencils stencils = {five_points, seven_points, convolution};

}  // namespace bench::expert
