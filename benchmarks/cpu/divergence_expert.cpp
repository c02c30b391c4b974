// Sixteen pixels in a vector go on until the last of them is done; those that are done keep their values. Widths are
// multiples of 16.

#include "divergence.h"
#include "simd.h"

namespace bench::expert {
namespace {

bool any(Ints mask) {
  int32_t bits = 0;
  for (int i = 0; i < kLanes; ++i) bits |= mask[i];
  return bits != 0;
}

Floats columns_from(int column) {
  Floats v;
  for (int i = 0; i < kLanes; ++i) v[i] = static_cast<float>(column + i);
  return v;
}

void mandelbrot(int* counts, int width, int height, int limit) {
  constexpr int kVectors = 2;
#pragma omp parallel for schedule(dynamic)
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; column += kVectors * kLanes) {
      const float y0 = -1.2f + 2.4f * static_cast<float>(row) / static_cast<float>(height);
      Floats x0[kVectors], x[kVectors] = {}, y[kVectors] = {};
      Ints count[kVectors] = {};
      for (int v = 0; v < kVectors; ++v)
        x0[v] = -2.2f + 3.2f * columns_from(column + v * kLanes) / static_cast<float>(width);
      for (int step = 0; step < limit; ++step) {
        Ints active = {};
        for (int v = 0; v < kVectors; ++v) {
          const Ints inside = x[v] * x[v] + y[v] * y[v] <= 4.0f;  // once outside, it stays there or becomes a NaN
          count[v] -= inside;
          const Floats next = x[v] * x[v] - y[v] * y[v] + x0[v];
          y[v] = inside ? 2 * x[v] * y[v] + y0 : y[v];
          x[v] = inside ? next : x[v];
          active |= inside;
        }
        if (step % 4 == 3 && !any(active)) break;
      }
      for (int v = 0; v < kVectors; ++v)
        *reinterpret_cast<IntsAnywhere*>(counts + row * width + column + v * kLanes) = count[v];
    }
}

Floats each_root(Floats v) {
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return v;
}
Floats each_floor(Floats v) {
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_floorf(v[i]);
  return v;
}

Floats scene_of(Floats x, Floats y, Floats z) {
  const Floats cx = x - 2 * each_floor(0.5f * x) - 1, cz = z - 2 * each_floor(0.5f * z) - 1;
  const Floats balls = each_root(cx * cx + y * y + cz * cz) - 0.6f;
  const Floats hole = 2.5f - each_root(x * x + y * y + (z - 4) * (z - 4));
  const Floats carved = balls > hole ? balls : hole;
  return carved < y + 1 ? carved : y + 1;
}

void ray_march(float* depths, int width, int height) {
#pragma omp parallel for schedule(dynamic)
  for (int row = 0; row < height; ++row)
    for (int column = 0; column < width; column += kLanes) {
      const Floats u = (columns_from(column) + 0.5f) / static_cast<float>(width) - 0.5f;
      const float v = 0.3f - (static_cast<float>(row) + 0.5f) / static_cast<float>(height);
      const Floats scale = 1 / each_root(u * u + v * v + 1);
      Floats depth{};
      Ints active = Ints{} - 1;
      for (int step = 0; step < kMostSteps && any(active); ++step) {
        const Floats distance = scene_of(u * scale * depth, 0.8f + v * scale * depth, scale * depth - 2);
        active &= distance >= 1e-3f;
        const Floats further = depth + distance;
        const Ints gone = further > kFar;
        depth = active ? (gone ? all(kFar) : further) : depth;
        active &= ~gone;
      }
      store(depths + row * width + column, depth);
    }
}

}  // namespace

const Divergence divergence = {mandelbrot, ray_march};

}  // namespace bench::expert
