// The arrays are multiples of 64 bytes, and larger than the caches: results go past them.

#include "simd.h"
#include "streaming.h"

namespace bench::expert {
namespace {

void copy(const float* x, float* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i += kLanes) stream(y + i, load(x + i));
}

void triad(float a, const float* x, const float* y, float* z, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i += kLanes) stream(z + i, load(x + i) + a * load(y + i));
}

void saxpy(float a, const float* x, float* y, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; i += kLanes) store(y + i, a * load(x + i) + load(y + i));
}

void scale_points(float a, const float* x, float* y, int points) {
  const Floats factor = {a, a, a, 1, a, a, a, 1, a, a, a, 1, a, a, a, 1};
#pragma omp parallel for
  for (int i = 0; i < 4 * points; i += kLanes) stream(y + i, factor * load(x + i));
}

float dot(const float* x, const float* y, int n) {
  float total = 0;
#pragma omp parallel for reduction(+ : total)
  for (int begin = 0; begin < n; begin += 1 << 14) {
    Floats a{}, b{}, c{}, d{};
    for (int i = begin; i < begin + (1 << 14); i += 4 * kLanes) {
      a += load(x + i) * load(y + i);
      b += load(x + i + kLanes) * load(y + i + kLanes);
      c += load(x + i + 2 * kLanes) * load(y + i + 2 * kLanes);
      d += load(x + i + 3 * kLanes) * load(y + i + 3 * kLanes);
    }
    total += sum(a + b + c + d);
  }
  return total;
}

}  // namespace

const Streaming streaming = {copy, triad, saxpy, scale_points, dot};

}  // namespace bench::expert
