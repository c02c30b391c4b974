#include "sorting.h"

#include <omp.h>

#include <algorithm>
#include <vector>

namespace bench::BENCH_BY {
namespace {

void bitonic(uint32_t* keys, int n) {
  for (int k = 2; k <= n; k *= 2)
    for (int j = k / 2; j > 0; j /= 2)
#pragma omp parallel for simd
      for (int pair = 0; pair < n / 2; ++pair) {
        const int i = 2 * pair - (pair & (j - 1));
        const uint32_t a = keys[i], b = keys[i + j];
        const bool up = (i & k) == 0;
        keys[i] = up ? std::min(a, b) : std::max(a, b);
        keys[i + j] = up ? std::max(a, b) : std::min(a, b);
      }
}

/// Least digit first: each thread counts the digits of its part, and knows then where they go.
void radix(uint32_t* keys, uint32_t* other, int n) {
  std::vector<int> places(omp_get_max_threads() * kDigits);
  for (int shift = 0; shift < 32; shift += 8) {
#pragma omp parallel
    {
      const int threads = omp_get_num_threads(), me = omp_get_thread_num();
      const int begin = static_cast<int>(int64_t{n} * me / threads),
                end = static_cast<int>(int64_t{n} * (me + 1) / threads);
      int counts[kDigits] = {};
      for (int i = begin; i < end; ++i) ++counts[keys[i] >> shift & 255];
      std::copy_n(counts, kDigits, &places[me * kDigits]);
#pragma omp barrier
#pragma omp single
      {
        int running = 0;
        for (int digit = 0; digit < kDigits; ++digit)
          for (int t = 0; t < threads; ++t) {
            const int count = places[t * kDigits + digit];
            places[t * kDigits + digit] = running;
            running += count;
          }
      }
      std::copy_n(&places[me * kDigits], kDigits, counts);
      for (int i = begin; i < end; ++i) other[counts[keys[i] >> shift & 255]++] = keys[i];
    }
    std::swap(keys, other);
  }
}

}  // namespace

const Sorting sorting = {bitonic, radix};

}  // namespace bench::BENCH_BY
