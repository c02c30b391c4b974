#include "integers.h"
#include "keccak_rounds.h"

namespace bench::BENCH_BY {
namespace {

void keccak(uint64_t* states, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    uint64_t a[kWords];
    for (int w = 0; w < kWords; ++w) a[w] = states[w * n + i];
    keccak_rounds(a);
    for (int w = 0; w < kWords; ++w) states[w * n + i] = a[w];
  }
}

}  // namespace

const Integers integers = {keccak};

}  // namespace bench::BENCH_BY
