// Columns are multiples of 64.

#include "layers.h"

#include <vector>

#include "simd.h"

namespace bench::expert {
namespace {

/// A row at a time: its exponentials wait in the first cache, and results go past the caches.
void softmax(const float* x, float* y, int rows, int columns) {
#pragma omp parallel
  {
    std::vector<float> buffer(columns);
    float* exps = buffer.data();
#pragma omp for
    for (int row = 0; row < rows; ++row) {
      const float* in = x + row * columns;
      Floats most = load(in);
      for (int i = kLanes; i < columns; i += kLanes) most = load(in + i) > most ? load(in + i) : most;
      float top = most[0], sum = 0;
      for (int i = 1; i < kLanes; ++i) top = most[i] > top ? most[i] : top;
#pragma omp simd reduction(+ : sum)
      for (int i = 0; i < columns; ++i) {
        exps[i] = fast_exp(in[i] - top);
        sum += exps[i];
      }
      const float scale = 1 / sum;
      for (int i = 0; i < columns; i += kLanes) stream(y + row * columns + i, load(exps + i) * scale);
    }
  }
}

/// The deviations of a row stay in the cache; four sums at a time, so that additions do not wait for each other.
void layer_norm(const float* x, const float* weight, const float* bias, float* y, int rows, int columns) {
  constexpr int kSums = 4;
#pragma omp parallel for
  for (int row = 0; row < rows; ++row) {
    const float* in = x + row * columns;
    Floats sums[kSums] = {}, squares[kSums] = {};
    for (int i = 0; i < columns; i += kSums * kLanes)
      for (int k = 0; k < kSums; ++k) sums[k] += load(in + i + k * kLanes);
    const float mean = sum(sums[0] + sums[1] + sums[2] + sums[3]) / static_cast<float>(columns);
    for (int i = 0; i < columns; i += kSums * kLanes)
      for (int k = 0; k < kSums; ++k) {
        const Floats d = load(in + i + k * kLanes) - mean;
        squares[k] += d * d;
      }
    const float variance = sum(squares[0] + squares[1] + squares[2] + squares[3]) / static_cast<float>(columns);
    const float scale = 1 / __builtin_sqrtf(variance + kEpsilon);
    for (int i = 0; i < columns; i += kLanes)
      stream(y + row * columns + i, (load(in + i) - mean) * scale * load(weight + i) + load(bias + i));
  }
}

void gelu(const float* x, float* y, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) {
    const float u = kGelu * (x[i] + 0.044715f * x[i] * x[i] * x[i]);
    const float tanh = 1 - 2 / (fast_exp(2 * u) + 1);
    y[i] = 0.5f * x[i] * (1 + tanh);
  }
}

}  // namespace

const Layers layers = {softmax, layer_norm, gelu};

}  // namespace bench::expert
