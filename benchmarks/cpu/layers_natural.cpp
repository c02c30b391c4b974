#include "layers.h"

#include <cmath>

namespace bench::BENCH_BY {
namespace {

void softmax(const float* x, float* y, int rows, int columns) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float most = -INFINITY, sum = 0;
#pragma omp simd reduction(max : most)
    for (int i = 0; i < columns; ++i) most = in[i] > most ? in[i] : most;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < columns; ++i) {
      out[i] = std::exp(in[i] - most);
      sum += out[i];
    }
    const float scale = 1 / sum;
#pragma omp simd
    for (int i = 0; i < columns; ++i) out[i] *= scale;
  }
}

void layer_norm(const float* x, const float* weight, const float* bias, float* y, int rows, int columns) {
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    float* out = y + row * columns;
    float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
    for (int i = 0; i < columns; ++i) sum += in[i];
    const float mean = sum / static_cast<float>(columns);
#pragma omp simd reduction(+ : squares)
    for (int i = 0; i < columns; ++i) squares += (in[i] - mean) * (in[i] - mean);
    const float scale = 1 / std::sqrt(squares / static_cast<float>(columns) + kEpsilon);
#pragma omp simd
    for (int i = 0; i < columns; ++i) out[i] = (in[i] - mean) * scale * weight[i] + bias[i];
  }
}

void gelu(const float* x, float* y, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1 + std::tanh(kGelu * (x[i] + 0.044715f * x[i] * x[i] * x[i])));
}

}  // namespace

const Layers layers = {softmax, layer_norm, gelu};

}  // namespace bench::BENCH_BY
