#include "limits.h"

#include <omp.h>

#include "simd.h"

namespace bench {

void limit_copy(const float* from, float* to, size_t count) {
#pragma omp parallel for
  for (size_t i = 0; i < count; i += kLanes) stream(to + i, load(from + i));
}

float limit_read(const float* from, size_t count) {
  float total = 0;
#pragma omp parallel for reduction(+ : total)
  for (size_t begin = 0; begin < count; begin += 1 << 16) {
    Floats a{}, b{}, c{}, d{};
    for (size_t i = begin; i < begin + (1 << 16); i += 4 * kLanes) {
      a += load(from + i);
      b += load(from + i + kLanes);
      c += load(from + i + 2 * kLanes);
      d += load(from + i + 3 * kLanes);
    }
    total += sum(a + b + c + d);
  }
  return total;
}

double limit_flops(long rounds) {
  constexpr int kChains = 12;
  const double operations = 2.0 * kLanes * kChains * omp_get_max_threads();
  if (rounds == 0) return operations;
  float total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Floats chains[kChains];
    for (int k = 0; k < kChains; ++k) chains[k] = all(1 + 0.1f * static_cast<float>(k));
    const Floats factor = all(0.999f), term = all(1e-3f);
    for (long i = 0; i < rounds; ++i)
      for (int k = 0; k < kChains; ++k) chains[k] = chains[k] * factor + term;
    for (int k = 0; k < kChains; ++k) total += sum(chains[k]);
  }
  return total;
}

double limit_integers(long rounds) {
  constexpr int kChains = 12;
  const double operations = 4.0 * kLanes * kChains * omp_get_max_threads();
  if (rounds == 0) return operations;
  uint32_t total = 0;
#pragma omp parallel reduction(+ : total)
  {
    Words chains[kChains];
    for (int k = 0; k < kChains; ++k) chains[k] = Words{} + static_cast<uint32_t>(k + 1);
    for (long i = 0; i < rounds; ++i)
      for (int k = 0; k < kChains; ++k) {
        chains[k] ^= chains[k] << 5;
        chains[k] += chains[k] & 0x55555555u;
      }
    for (int k = 0; k < kChains; ++k) total += chains[k][0];
  }
  return total;
}

}  // namespace bench
