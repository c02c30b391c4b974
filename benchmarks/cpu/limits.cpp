#include "limits.h"

#include <omp.h>

#include <algorithm>

#include "simd.h"

namespace bench {

namespace {

/// Turns through kReads arrays, kLines lines of each before the next one, and kAhead lines further asked for; what they
/// sum up to is written to `to` where there is one: past the caches, or, if it is one of those read, through them.
template <int kReads, int kLines, int kAhead>
void move(const Arrays& arrays) {
  constexpr size_t kStep = size_t{kLines} * kLanes, kPiece = size_t{1} << 12;
  const float* from[kReads];
  std::copy_n(arrays.from.begin(), kReads, from);
  float* const to = arrays.to;
  const bool in_place = std::find(from, from + kReads, to) != from + kReads;
  float total = 0;
#pragma omp parallel for reduction(+ : total)
  for (size_t begin = 0; begin < arrays.count; begin += kPiece) {
    Floats sums[kLines] = {};
    for (size_t i = begin; i < begin + kPiece; i += kStep) {
      if (to) std::fill_n(sums, kLines, Floats{});
      for (int array = 0; array < kReads; ++array) {
        for (int line = 0; line < kLines; ++line) {
          const float* p = from[array] + i + line * kLanes;
          if (kAhead > 0) __builtin_prefetch(p + kAhead * kLanes, 0, 2);  // to the second cache, which waits for more
          sums[line] += load(p);
        }
        asm volatile("" ::: "memory");  // in this order
      }
      if (!to) continue;
      for (int line = 0; line < kLines; ++line)
        in_place ? store(to + i + line * kLanes, sums[line]) : stream(to + i + line * kLanes, sums[line]);
    }
    for (const Floats& some : sums) total += some[0];
  }
  asm volatile("" ::"m"(total));  // somebody may read it
}

template <int kReads>
std::vector<std::function<void()>> moves(const Arrays& arrays) {
  return {[=] { move<kReads, 1, 0>(arrays); }, [=] { move<kReads, 4, 0>(arrays); },
          [=] { move<kReads, 1, 32>(arrays); }, [=] { move<kReads, 4, 32>(arrays); }};
}

}  // namespace

std::vector<std::function<void()>> limit_moves(const Arrays& arrays) {
  return arrays.from.size() == 1 ? moves<1>(arrays) : moves<2>(arrays);
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
