#include "integers.h"
#include "keccak_rounds.h"

namespace bench::expert {
namespace {

/// Eight states in a register's width; n is a multiple of eight.
void keccak(uint64_t* states, int n) {
  typedef uint64_t Eight __attribute__((vector_size(64)));
  typedef uint64_t EightAnywhere __attribute__((vector_size(64), aligned(8)));
#pragma omp parallel for
  for (int i = 0; i < n; i += 8) {
    Eight a[kWords];
    for (int w = 0; w < kWords; ++w) a[w] = *reinterpret_cast<const EightAnywhere*>(states + w * n + i);
    keccak_rounds(a);
    for (int w = 0; w < kWords; ++w) *reinterpret_cast<EightAnywhere*>(states + w * n + i) = a[w];
  }
}

}  // namespace

const Integers integers = {keccak};

}  // namespace bench::expert
