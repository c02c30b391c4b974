#pragma once

#include <cstddef>

namespace bench {

// Loops that do one thing as fast as all cores can. `count` is a multiple of 64.
void limit_copy(const float* from, float* to, size_t count);
float limit_read(const float* from, size_t count);

/// Multiplies and adds in registers, `rounds` times on each core; for 0 rounds, the operations that one round is.
double limit_flops(long rounds);
/// The same for sums, shifts and exclusive ors of 32-bit integers.
double limit_integers(long rounds);

}  // namespace bench
