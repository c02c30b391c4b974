#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace bench {

// Loops that do one thing as fast as all cores can.

/// One or two arrays that are read, and one that is written, one of those too, or null; each of `count` numbers, a
/// multiple of 4096, from an address that is a multiple of 64.
struct Arrays {
  std::vector<const float*> from;
  float* to;
  size_t count;
};

/// Loops that read all of `from` and write all of `to` and do no more than they need for that, in different ways: which
/// is fastest differs from machine to machine. Reads alone may come slower than reads and writes together.
std::vector<std::function<void()>> limit_moves(const Arrays& arrays);

/// Multiplies and adds in registers, `rounds` times on each core; for 0 rounds, the operations that one round is.
double limit_flops(long rounds);
/// The same for sums, shifts and exclusive ors of 32-bit integers.
double limit_integers(long rounds);

}  // namespace bench
