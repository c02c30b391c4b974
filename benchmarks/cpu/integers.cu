// Rotations and exclusive ors of 64-bit words: the permutation of SHA-3.

#include "integers.h"

#include "suite.h"

namespace {

using bench::kKeccakRounds;
using bench::kWords;

__constant__ uint64_t round_constants[kKeccakRounds] = BENCH_KECCAK_ROUND_CONSTANTS;

__device__ uint64_t rotated(uint64_t x, int by) {
  return x << by | x >> (64 - by);
}

__global__ void keccak(uint64_t* states, int n) {
  constexpr int kRotations[] = BENCH_KECCAK_ROTATIONS, kLanes[] = BENCH_KECCAK_LANES;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  uint64_t a[kWords];
#pragma unroll
  for (int w = 0; w < kWords; ++w) a[w] = states[w * n + i];
  for (int round = 0; round < kKeccakRounds; ++round) {
    uint64_t columns[5];
#pragma unroll
    for (int x = 0; x < 5; ++x) columns[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
#pragma unroll
    for (int x = 0; x < 5; ++x) {
      uint64_t d = columns[(x + 4) % 5] ^ rotated(columns[(x + 1) % 5], 1);
#pragma unroll
      for (int y = 0; y < kWords; y += 5) a[x + y] ^= d;
    }
    uint64_t moving = a[1];
#pragma unroll
    for (int k = 0; k < kWords - 1; ++k) {
      uint64_t next = a[kLanes[k]];
      a[kLanes[k]] = rotated(moving, kRotations[k]);
      moving = next;
    }
#pragma unroll
    for (int y = 0; y < kWords; y += 5) {
      uint64_t row[5];
#pragma unroll
      for (int x = 0; x < 5; ++x) row[x] = a[x + y];
#pragma unroll
      for (int x = 0; x < 5; ++x) a[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    a[0] ^= round_constants[round];
  }
#pragma unroll
  for (int w = 0; w < kWords; ++w) states[w * n + i] = a[w];
}

#define BENCH_TEXT(...) BENCH_TEXT_(__VA_ARGS__)
#define BENCH_TEXT_(...) #__VA_ARGS__
constexpr const char* kOpenCl =
    "constant ulong round_constants[] = " BENCH_TEXT(BENCH_KECCAK_ROUND_CONSTANTS) ";\n"
    "constant int rotations[] = " BENCH_TEXT(BENCH_KECCAK_ROTATIONS) ";\n"
    "constant int lanes[] = " BENCH_TEXT(BENCH_KECCAK_LANES) ";\n" R"cl(
kernel void keccak(global ulong* states, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  ulong a[25];
  for (int w = 0; w < 25; ++w) a[w] = states[w * n + i];
  for (int round = 0; round < 24; ++round) {
    ulong columns[5];
    for (int x = 0; x < 5; ++x) columns[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
    for (int x = 0; x < 5; ++x) {
      ulong d = columns[(x + 4) % 5] ^ rotate(columns[(x + 1) % 5], 1UL);
      for (int y = 0; y < 25; y += 5) a[x + y] ^= d;
    }
    ulong moving = a[1];
#pragma unroll
    for (int k = 0; k < 24; ++k) {
      ulong next = a[lanes[k]];
      a[lanes[k]] = rotate(moving, (ulong)rotations[k]);
      moving = next;
    }
    for (int y = 0; y < 25; y += 5) {
      ulong row[5];
      for (int x = 0; x < 5; ++x) row[x] = a[x + y];
      for (int x = 0; x < 5; ++x) a[x + y] = row[x] ^ (~row[(x + 1) % 5] & row[(x + 2) % 5]);
    }
    a[0] ^= round_constants[round];
  }
  for (int w = 0; w < 25; ++w) states[w * n + i] = a[w];
}
)cl";

}  // namespace

namespace bench {

void run_integers(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const int n = 1 << 16, threads = 256;
  const auto word = [](size_t i) { return uint64_t{hash(i)} << 32 | hash(i + 5); };
  Array<uint64_t> start(size_t{kWords} * n, word), states(size_t{kWords} * n);
  // A round takes 76 exclusive ors, 29 rotations (of two shifts and an or), 25 ands and complements, on 64 bits.
  suite.run(Case<Integers>{.name = "keccak",
                           .work = {.bytes = 16.0 * kWords * n, .integer_operations = 2.0 * 213 * kKeccakRounds * n},
                           .outputs = {exact(states)},
                           .prepare = [&] { std::memcpy(states, start, start.bytes()); },
                           .ours = [&] { keccak<<<n / threads, threads>>>(states, n); },
                           .loops = [&](const Integers& loops) { loops.keccak(states, n); },
                           .opencl = [&](OpenCl& cl) { cl.launch("keccak", n, threads, states, n); }});
}

}  // namespace bench
