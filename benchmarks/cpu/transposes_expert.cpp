#include "simd.h"
#include "transposes.h"

namespace bench::expert {
namespace {

/// Interleaves rows i and i + 8 for all i, which four times over is the transposition of 16x16 elements.
void interleave(const Floats* in, Floats* out) {
  for (int i = 0; i < kLanes / 2; ++i) {
    const Floats a = in[i], b = in[i + kLanes / 2];
    out[2 * i] = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    out[2 * i + 1] = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  }
}

/// Blocks of 16x16 in registers; results go past the caches, whole lines at a time.
void transpose(const float* x, float* y, int n) {
#pragma omp parallel for collapse(2)
  for (int row = 0; row < n; row += kLanes)
    for (int column = 0; column < n; column += kLanes) {
      Floats a[kLanes], b[kLanes];
      for (int i = 0; i < kLanes; ++i) a[i] = load(x + (column + i) * n + row);
      interleave(a, b);
      interleave(b, a);
      interleave(a, b);
      interleave(b, a);
      for (int i = 0; i < kLanes; ++i) stream(y + (row + i) * n + column, a[i]);
    }
}

}  // namespace

const Transposes transposes = {transpose};

}  // namespace bench::expert
