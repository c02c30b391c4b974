#pragma once

// Part of curand_kernel.h: the quasirandom generators (Sobol's sequences in Gray-code order: Antonov and Saleev, "An
// Economic Method of Computing LP-tau-Sequences", USSR Comput. Math. and Math. Phys. 19(1), 1979). The program brings
// the direction vectors.

typedef unsigned int curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

#pragma push_macro("CUPOLA_RANDOM")
#define CUPOLA_RANDOM static __device__ __inline__ __attribute__((always_inline, unused))

/// Number i of a sequence is its scramble, if any, plus (without carry) the vectors of the set bits of i's Gray code.
#define CUPOLA_SOBOL(name, bits, word, scramble, start, first_set)                 \
  struct name {                                                                    \
    word i, x;                                                                     \
    scramble word direction_vectors[bits];                                         \
  };                                                                               \
  typedef struct name name##_t;                                                    \
  CUPOLA_RANDOM word curand(name##_t* state) {                                     \
    const word result = state->x;                                                  \
    state->x ^= state->direction_vectors[(first_set(~state->i) - 1) & (bits - 1)]; \
    ++state->i;                                                                    \
    return result;                                                                 \
  }                                                                                \
  CUPOLA_RANDOM void skipahead(word n, name##_t* state) {                          \
    state->i += n;                                                                 \
    const word gray = state->i ^ (state->i >> 1);                                  \
    state->x = start;                                                              \
    for (int k = 0; k < bits; ++k)                                                 \
      if (gray >> k & 1) state->x ^= state->direction_vectors[k];                  \
  }
#define CUPOLA_PLAIN_SOBOL(name, bits, word, first_set)                                         \
  CUPOLA_SOBOL(name, bits, word, , 0, first_set)                                                \
  CUPOLA_RANDOM void curand_init(const word* direction_vectors, word offset, name##_t* state) { \
    for (int k = 0; k < bits; ++k) state->direction_vectors[k] = direction_vectors[k];          \
    state->i = 0;                                                                               \
    skipahead(offset, state);                                                                   \
  }
#define CUPOLA_SCRAMBLED_SOBOL(name, bits, word, first_set)                                                    \
  CUPOLA_SOBOL(name, bits, word, word c;, state->c, first_set)                                                 \
  CUPOLA_RANDOM void curand_init(const word* direction_vectors, word scramble, word offset, name##_t* state) { \
    for (int k = 0; k < bits; ++k) state->direction_vectors[k] = direction_vectors[k];                         \
    state->i = 0;                                                                                              \
    state->c = scramble;                                                                                       \
    skipahead(offset, state);                                                                                  \
  }
CUPOLA_PLAIN_SOBOL(curandStateSobol32, 32, unsigned int, __ffs)
CUPOLA_PLAIN_SOBOL(curandStateSobol64, 64, unsigned long long, __ffsll)
CUPOLA_SCRAMBLED_SOBOL(curandStateScrambledSobol32, 32, unsigned int, __ffs)
CUPOLA_SCRAMBLED_SOBOL(curandStateScrambledSobol64, 64, unsigned long long, __ffsll)
#undef CUPOLA_PLAIN_SOBOL
#undef CUPOLA_SCRAMBLED_SOBOL
#undef CUPOLA_SOBOL

#pragma pop_macro("CUPOLA_RANDOM")
