#include "streaming.h"

namespace bench::BENCH_BY {
namespace {

void copy(const float* x, float* y, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) y[i] = x[i];
}

void triad(float a, const float* x, const float* y, float* z, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) z[i] = x[i] + a * y[i];
}

void saxpy(float a, const float* x, float* y, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}

void scale_points(float a, const float* x, float* y, int points) {
#pragma omp parallel for simd
  for (int i = 0; i < points; ++i) {
    y[4 * i] = a * x[4 * i];
    y[4 * i + 1] = a * x[4 * i + 1];
    y[4 * i + 2] = a * x[4 * i + 2];
    y[4 * i + 3] = x[4 * i + 3];
  }
}

float dot(const float* x, const float* y, int n) {
  float sum = 0;
#pragma omp parallel for simd reduction(+ : sum)
  for (int i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace

const Streaming streaming = {copy, triad, saxpy, scale_points, dot};

}  // namespace bench::BENCH_BY
