#include "matrices.h"

namespace bench::BENCH_BY {
namespace {

void product(const float* a, const float* b, float* c, int n) {
#pragma omp parallel for
  for (int row = 0; row < n; ++row) {
    for (int column = 0; column < n; ++column) c[row * n + column] = 0;
    for (int k = 0; k < n; ++k)
#pragma omp simd
      for (int column = 0; column < n; ++column) c[row * n + column] += a[row * n + k] * b[k * n + column];
  }
}

void matrix_vector(const float* a, const float* x, float* y, int rows, int columns) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < columns; ++i) sum += a[row * columns + i] * x[i];
    y[row] = sum;
  }
}

void small_products(const float* a, const float* b, float* c, int count) {
#pragma omp parallel for
  for (int m = 0; m < count; ++m) {
    const float *left = a + m * kSmall * kSmall, *right = b + m * kSmall * kSmall;
    float* out = c + m * kSmall * kSmall;
    for (int row = 0; row < kSmall; ++row) {
      float sums[kSmall] = {};
      for (int k = 0; k < kSmall; ++k)
#pragma omp simd
        for (int column = 0; column < kSmall; ++column)
          sums[column] += left[row * kSmall + k] * right[k * kSmall + column];
      for (int column = 0; column < kSmall; ++column) out[row * kSmall + column] = sums[column];
    }
  }
}

void int8_dots(const int8_t* a, const int8_t* b, int* sums, int rows, int columns) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    int sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < columns; ++i) sum += a[row * columns + i] * b[row * columns + i];
    sums[row] = sum;
  }
}

}  // namespace

const Matrices matrices = {product, matrix_vector, small_products, int8_dots};

}  // namespace bench::BENCH_BY
