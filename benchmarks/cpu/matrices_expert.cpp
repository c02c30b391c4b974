#include <algorithm>

#include "matrices.h"
#include "simd.h"

namespace bench::expert {
namespace {

constexpr int kRows = 8, kVectors = 3, kWidth = kVectors * kLanes, kDepth = 256;

/// Adds the product of kRows rows of a and a packed panel of b to a piece of c; the sums stay in registers.
void add_piece(const float* a, const float* panel, float* c, int n, int depth) {
  Floats sums[kRows][kVectors];
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) sums[r][v] = load(c + r * n + v * kLanes);
  for (int k = 0; k < depth; ++k) {
    const Floats b0 = load(panel + k * kWidth), b1 = load(panel + k * kWidth + kLanes),
                 b2 = load(panel + k * kWidth + 2 * kLanes);
    for (int r = 0; r < kRows; ++r) {
      const Floats left = all(a[r * n + k]);
      sums[r][0] += left * b0;
      sums[r][1] += left * b1;
      sums[r][2] += left * b2;
    }
  }
  for (int r = 0; r < kRows; ++r)
    for (int v = 0; v < kVectors; ++v) store(c + r * n + v * kLanes, sums[r][v]);
}

/// n is a multiple of 48.
void product(const float* a, const float* b, float* c, int n) {
#pragma omp parallel for schedule(dynamic)
  for (int left = 0; left < n; left += kWidth) {
    alignas(64) float panel[kDepth * kWidth];
    for (int row = 0; row < n; ++row) std::fill_n(c + row * n + left, kWidth, 0.0f);
    for (int begin = 0; begin < n; begin += kDepth) {
      const int depth = std::min(kDepth, n - begin);
      for (int k = 0; k < depth; ++k) std::copy_n(b + (begin + k) * n + left, kWidth, panel + k * kWidth);
      for (int row = 0; row < n; row += kRows) add_piece(a + row * n + begin, panel, c + row * n + left, n, depth);
    }
  }
}

/// Four rows at a time, of which each has its sums; rows are a multiple of four, columns of a vector's numbers.
void matrix_vector(const float* a, const float* x, float* y, int rows, int columns) {
  constexpr int kBeside = 4;
#pragma omp parallel for
  for (int row = 0; row < rows; row += kBeside) {
    Floats sums[kBeside] = {};
    for (int i = 0; i < columns; i += kLanes) {
      const Floats right = load(x + i);
      for (int r = 0; r < kBeside; ++r) sums[r] += load(a + (row + r) * columns + i) * right;
    }
    for (int r = 0; r < kBeside; ++r) y[row + r] = sum(sums[r]);
  }
}

/// The sixteen rows of the right matrix are in registers while all rows of the left one meet them.
void small_products(const float* a, const float* b, float* c, int count) {
  static_assert(kSmall == kLanes);
#pragma omp parallel for
  for (int m = 0; m < count; ++m) {
    const float* left = a + m * kSmall * kSmall;
    Floats right[kSmall];
    for (int k = 0; k < kSmall; ++k) right[k] = load(b + (m * kSmall + k) * kSmall);
    for (int row = 0; row < kSmall; ++row) {
      Floats even{}, odd{};
      for (int k = 0; k < kSmall; k += 2) {
        even += left[row * kSmall + k] * right[k];
        odd += left[row * kSmall + k + 1] * right[k + 1];
      }
      store(c + (m * kSmall + row) * kSmall, even + odd);
    }
  }
}

/// Products of bytes fit 16 bits, and two of them a sum of 32: the compiler makes pmaddwd of this.
void int8_dots(const int8_t* a, const int8_t* b, int* sums, int rows, int columns) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    const int8_t *x = a + row * columns, *y = b + row * columns;
    int sum = 0;
#pragma omp simd reduction(+ : sum) simdlen(64)
    for (int i = 0; i < columns; ++i) sum += int16_t{x[i]} * int16_t{y[i]};
    sums[row] = sum;
  }
}

}  // namespace

const Matrices matrices = {product, matrix_vector, small_products, int8_dots};

}  // namespace bench::expert
