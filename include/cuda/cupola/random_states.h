#pragma once

// Part of curand_kernel.h: the pseudorandom generators. "cuRAND, Device API Overview". Sequences are those of cuRAND:
//
//   XORWOW         Marsaglia, "Xorshift RNGs", J. Statistical Software 8(14), 2003; sequences are 2^67 numbers apart
//   Philox4_32_10  Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC 2011
//   MRG32k3a       L'Ecuyer, Operations Research 47(1), 1999; subsequences are 2^76, sequences 2^127 numbers apart

#pragma push_macro("CUPOLA_RANDOM")
#define CUPOLA_RANDOM static __device__ __inline__ __attribute__((always_inline, unused))

// src/device/random.cu
extern "C" __device__ void __cupola_xorwow_skip(unsigned int* words, unsigned long long n, unsigned int log2);
extern "C" __device__ void __cupola_mrg32k3a_skip(unsigned int* first, unsigned int* second, unsigned long long n,
                                                  unsigned int log2);

// Each state ends with the second value of the last pair of normally distributed ones, if that is still to be given.
#define CUPOLA_SPARE_NORMALS                 \
  int boxmuller_flag, boxmuller_flag_double; \
  float boxmuller_extra;                     \
  double boxmuller_extra_double;

// -- XORWOW --

struct curandStateXORWOW {
  unsigned int d, v[5];
  CUPOLA_SPARE_NORMALS
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

CUPOLA_RANDOM unsigned int curand(curandStateXORWOW_t* state) {
  unsigned int* const v = state->v;
  const unsigned int t = v[0] ^ (v[0] >> 2);
  v[0] = v[1];
  v[1] = v[2];
  v[2] = v[3];
  v[3] = v[4];
  v[4] = v[4] ^ (v[4] << 4) ^ t ^ (t << 1);
  state->d += 362437;
  return v[4] + state->d;
}
CUPOLA_RANDOM void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
  __cupola_xorwow_skip(state->v, n, 0);
  state->d += 362437 * (unsigned int)n;
}
CUPOLA_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
  __cupola_xorwow_skip(state->v, n, 67);
}
CUPOLA_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateXORWOW_t* state) {
  const unsigned int low = ((unsigned int)seed ^ 0xaad26b49u) * 1099087573u;
  const unsigned int high = ((unsigned int)(seed >> 32) ^ 0xf7dcefddu) * 2591861531u;
  *state = {6615241 + low + high,
            {123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low},
            0,
            0,
            0,
            0};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

// -- Philox4_32_10 --

struct curandStatePhilox4_32_10 {
  uint4 ctr, output;
  uint2 key;
  unsigned int STATE;  ///< how many words of output are used up
  CUPOLA_SPARE_NORMALS
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

/// Ten rounds.
CUPOLA_RANDOM uint4 curand_Philox4x32_10(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    const unsigned long long a = (unsigned long long)counter.x * 0xd2511f53u;
    const unsigned long long b = (unsigned long long)counter.z * 0xcd9e8d57u;
    counter = {(unsigned int)(b >> 32) ^ counter.y ^ key.x, (unsigned int)b,
               (unsigned int)(a >> 32) ^ counter.w ^ key.y, (unsigned int)a};
    key.x += 0x9e3779b9u;
    key.y += 0xbb67ae85u;
  }
  return counter;
}

namespace cupola {
namespace random {

/// Adds to the lower or the upper half of the counter; what overflows the lower half goes into the upper one.
CUPOLA_RANDOM void advance(curandStatePhilox4_32_10_t* state, unsigned long long low, unsigned long long high) {
  const unsigned long long before = (unsigned long long)state->ctr.y << 32 | state->ctr.x, sum = before + low;
  const unsigned long long upper = ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + high + (sum < before);
  state->ctr = {(unsigned int)sum, (unsigned int)(sum >> 32), (unsigned int)upper, (unsigned int)(upper >> 32)};
  state->output = curand_Philox4x32_10(state->ctr, state->key);
}
CUPOLA_RANDOM unsigned int word(const uint4& x, unsigned int i) {
  return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w;
}

}  // namespace random
}  // namespace cupola

CUPOLA_RANDOM unsigned int curand(curandStatePhilox4_32_10_t* state) {
  const unsigned int result = cupola::random::word(state->output, state->STATE++);
  if (state->STATE == 4) {
    state->STATE = 0;
    cupola::random::advance(state, 1, 0);
  }
  return result;
}
/// The next four numbers.
CUPOLA_RANDOM uint4 curand4(curandStatePhilox4_32_10_t* state) {
  const uint4 before = state->output;
  const unsigned int used = state->STATE;
  cupola::random::advance(state, 1, 0);
  unsigned int words[4];
  for (unsigned int i = 0; i < 4; ++i)
    words[i] =
        used + i < 4 ? cupola::random::word(before, used + i) : cupola::random::word(state->output, used + i - 4);
  return {words[0], words[1], words[2], words[3]};
}
CUPOLA_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  const unsigned int used = state->STATE + (unsigned int)(n & 3);
  state->STATE = used & 3;
  cupola::random::advance(state, n / 4 + used / 4, 0);
}
CUPOLA_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
  cupola::random::advance(state, 0, n);
}
CUPOLA_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStatePhilox4_32_10_t* state) {
  *state = {{0, 0, 0, 0}, {0, 0, 0, 0}, {(unsigned int)seed, (unsigned int)(seed >> 32)}, 0, 0, 0, 0, 0};
  skipahead_sequence(subsequence, state);
  skipahead(offset, state);
}

// -- MRG32k3a --

struct curandStateMRG32k3a {
  unsigned int s1[3], s2[3];
  CUPOLA_SPARE_NORMALS
};
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;

/// From 1 to 4294967087, the first modulus.
CUPOLA_RANDOM double curand_MRG32k3a(curandStateMRG32k3a_t* state) {
  unsigned int *const a = state->s1, *const b = state->s2;
  const unsigned long long first = 4294967087ull, second = 4294944443ull;
  const unsigned int p1 = (unsigned int)((1403580ull * a[1] + 810728ull * (first - a[0])) % first);
  const unsigned int p2 = (unsigned int)((527612ull * b[2] + 1370589ull * (second - b[0])) % second);
  a[0] = a[1], a[1] = a[2], a[2] = p1;
  b[0] = b[1], b[1] = b[2], b[2] = p2;
  return p1 > p2 ? (double)p1 - (double)p2 : (double)p1 - (double)p2 + 4294967087.0;
}
/// Stretched to 32 bits.
CUPOLA_RANDOM unsigned int curand(curandStateMRG32k3a_t* state) {
  return (unsigned int)(curand_MRG32k3a(state) * 1.000000048662);
}
CUPOLA_RANDOM void skipahead(unsigned long long n, curandStateMRG32k3a_t* state) {
  __cupola_mrg32k3a_skip(state->s1, state->s2, n, 0);
}
CUPOLA_RANDOM void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  __cupola_mrg32k3a_skip(state->s1, state->s2, n, 76);
}
CUPOLA_RANDOM void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t* state) {
  __cupola_mrg32k3a_skip(state->s1, state->s2, n, 127);
}
CUPOLA_RANDOM void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                               curandStateMRG32k3a_t* state) {
  *state = {{12345, 12345, 12345}, {12345, 12345, 12345}, 0, 0, 0, 0};
  if (seed != 0) {
    const unsigned long long low = (unsigned int)seed ^ 0x55555555u, high = (unsigned int)(seed >> 32) ^ 0xaaaaaaaau;
    state->s1[0] = state->s1[2] = (unsigned int)(low * 12345 % 4294967087ull);
    state->s1[1] = (unsigned int)(high * 12345 % 4294967087ull);
    state->s2[0] = state->s2[2] = (unsigned int)(high * 12345 % 4294944443ull);
    state->s2[1] = (unsigned int)(low * 12345 % 4294944443ull);
  }
  skipahead_subsequence(subsequence, state);
  skipahead(offset, state);
}

#undef CUPOLA_SPARE_NORMALS

// -- MTGP32: its parameter tables come from a host library that Cupola does not have --

struct curandStateMtgp32;
typedef struct curandStateMtgp32 curandStateMtgp32_t;
__attribute__((
    unavailable("MTGP32 is not supported by Cupola; use curandStateXORWOW_t, curandStatePhilox4_32_10_t or "
                "curandStateMRG32k3a_t"))) __device__ unsigned int
curand(curandStateMtgp32_t* state);

#pragma pop_macro("CUPOLA_RANDOM")
