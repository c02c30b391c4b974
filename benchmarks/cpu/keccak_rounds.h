#pragma once

#include "integers.h"

namespace bench {
namespace {

constexpr uint64_t kRoundConstants[kKeccakRounds] = BENCH_KECCAK_ROUND_CONSTANTS;
constexpr int kRotations[kWords - 1] = BENCH_KECCAK_ROTATIONS, kLanesInTurn[kWords - 1] = BENCH_KECCAK_LANES;

/// The 24 rounds; Word is uint64_t or a vector of them.
template <typename Word>
inline void keccak_rounds(Word (&a)[kWords]) {
  const auto rotated = [](Word x, int by) { return x << by | x >> (64 - by); };
  for (int round = 0; round < kKeccakRounds; ++round) {
    Word columns[5];
    for (int x = 0; x < 5; ++x) columns[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (int x = 0; x < 5; ++x) {
      const Word d = columns[(x + 4) % 5] ^ rotated(columns[(x + 1) % 5], 1);
      for (int y = 0; y < kWords; y += 5) a[x + y] ^= d;
    }
    Word moving = a[1];
#ifdef __clang__
#pragma unroll
#else
#pragma GCC unroll 24
#endif
    for (int i = 0; i < kWords - 1; ++i) {
      const Word next = a[kLanesInTurn[i]];
      a[kLanesInTurn[i]] = rotated(moving, kRotations[i]);
      moving = next;
    }
    for (int y = 0; y < kWords; y += 5) {
      Word row[5];
      for (int x = 0; x < 5; ++x) row[x] = a[x + y];
      for (int x = 0; x < 5; ++x) a[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    a[0] ^= kRoundConstants[round];
  }
}

}  // namespace
}  // namespace bench
