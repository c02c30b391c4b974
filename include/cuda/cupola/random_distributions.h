#pragma once

// Part of curand_kernel.h: distributions. "cuRAND, Device API Overview, Distributions". Uniform numbers lie in (0, 1]
// and are those of cuRAND, bit by bit as an H200 gives them; normal ones come from the same pairs by Box and Muller's
// transform, and differ from cuRAND's by the rounding of logarithm, sine and cosine. Quasirandom generators take the
// inverse of the distribution function.

#pragma push_macro("CUPOLA_RANDOM")
#define CUPOLA_RANDOM static __device__ __inline__ __attribute__((always_inline, unused))

#define CURAND_2POW32_INV (2.3283064e-10f)
#define CURAND_2POW32_INV_DOUBLE (2.3283064365386963e-10)
#define CURAND_2POW53_INV_DOUBLE (1.1102230246251565e-16)

namespace cupola {
namespace random {

CUPOLA_RANDOM float uniform(unsigned int x) { return x * CURAND_2POW32_INV + CURAND_2POW32_INV / 2.0f; }
CUPOLA_RANDOM float uniform(unsigned long long x) { return uniform((unsigned int)(x >> 32)); }
CUPOLA_RANDOM double uniform_double(unsigned int x) { return x * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE; }
CUPOLA_RANDOM double uniform_double(unsigned long long x) {
  return (x >> 11) * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 2.0;
}
/// Of 53 bits.
CUPOLA_RANDOM double uniform_double(unsigned int x, unsigned int y) {
  const unsigned long long z = x ^ (unsigned long long)y << 21;
  return z * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 2.0;
}

/// Two normal numbers of a number in (0, 1] and an angle in half turns.
CUPOLA_RANDOM float2 box_muller(float u, float half_turns) {
  const float radius = sqrtf(-2.0f * logf(u));
  float2 result;
  sincospif(half_turns, &result.x, &result.y);
  return {result.x * radius, result.y * radius};
}
CUPOLA_RANDOM double2 box_muller(double u, double half_turns) {
  const double radius = sqrt(-2.0 * log(u));
  double2 result;
  sincospi(half_turns, &result.x, &result.y);
  return {result.x * radius, result.y * radius};
}
CUPOLA_RANDOM float2 normal(unsigned int x, unsigned int y) { return box_muller(uniform(x), 2 * uniform(y)); }
CUPOLA_RANDOM double2 normal_double(unsigned int x0, unsigned int x1, unsigned int y0, unsigned int y1) {
  return box_muller(uniform_double(x0, x1), 2 * uniform_double(y0, y1));
}

/// A number of Poisson's distribution. Below 64 by Knuth's products, above by transformed rejection (Hoermann, "The
/// Transformed Rejection Method for Generating Poisson Random Variables", Insurance: Mathematics and Economics 12,
/// 1993).
template <typename State>
static __device__ unsigned int poisson(State* state, double lambda) {
  if (!(lambda > 0)) return 0;
  if (lambda < 64) {
    const double limit = exp(-lambda);
    unsigned int k = 0;
    for (double product = curand_uniform_double(state); product > limit; ++k) product *= curand_uniform_double(state);
    return k;
  }
  const double b = 0.931 + 2.53 * sqrt(lambda), a = -0.059 + 0.02483 * b, inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  const double v_r = 0.9277 - 3.6224 / (b - 2), log_lambda = log(lambda);
  for (;;) {
    const double u = curand_uniform_double(state) - 0.5, v = curand_uniform_double(state), us = 0.5 - fabs(u);
    const double k = floor((2 * a / us + b) * u + lambda + 0.43);
    if (us >= 0.07 && v <= v_r) return (unsigned int)k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (log(v * inverse_alpha / (a / (us * us) + b)) <= k * log_lambda - lambda - lgamma(k + 1)) return (unsigned int)k;
  }
}

/// The least number up to which Poisson's distribution has as much as u in (0, 1]. Below 100 by adding up; above by
/// Cornish and Fisher's expansion around the normal distribution, whose error there is below 1e-4 (Giles, "Algorithm
/// 955: Approximation of the Inverse Poisson Cumulative Distribution Function", ACM Trans. Math. Softw. 42(1), 2016).
static __device__ unsigned int inverse_poisson(double u, double lambda) {
  if (!(lambda > 0)) return 0;
  if (lambda < 100) {
    unsigned int k = 0;
    double term = exp(-lambda), sum = term;
    while (sum < u && (k < lambda || sum + term != sum)) sum += term *= lambda / ++k;
    return k;
  }
  const double w = normcdfinv(u < 1 - 0x1p-53 ? u : 1 - 0x1p-53), w2 = w * w, root = sqrt(lambda);
  const double first = (2 + w2) / 6, second = -w * (2 + w2) / 72, third = (-16 + w2 * (7 + 3 * w2)) / 810;
  const double k = floor(lambda + root * w + first + second / root + third / lambda);
  return k < 0 ? 0 : (unsigned int)k;
}

}  // namespace random
}  // namespace cupola

// -- generators of 32 bits --

CUPOLA_RANDOM double curand_uniform_double(curandStateXORWOW_t* state) {
  const unsigned int x = curand(state);
  return cupola::random::uniform_double(x, curand(state));
}
/// Of 32 bits: curand_uniform2_double() gives 53.
CUPOLA_RANDOM double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
  return cupola::random::uniform_double(curand(state));
}
#define CUPOLA_UNIFORM(state_t)                                                                         \
  CUPOLA_RANDOM float curand_uniform(state_t* state) { return cupola::random::uniform(curand(state)); } \
  CUPOLA_RANDOM float2 curand_normal2(state_t* state) {                                                 \
    const unsigned int x = curand(state);                                                               \
    return cupola::random::normal(x, curand(state));                                                    \
  }                                                                                                     \
  CUPOLA_RANDOM double2 curand_normal2_double(state_t* state) {                                         \
    const unsigned int x0 = curand(state), x1 = curand(state), y0 = curand(state);                      \
    return cupola::random::normal_double(x0, x1, y0, curand(state));                                    \
  }
CUPOLA_UNIFORM(curandStateXORWOW_t)
CUPOLA_UNIFORM(curandStatePhilox4_32_10_t)
#undef CUPOLA_UNIFORM

#define CUPOLA_MRG32K3A_STEP 2.3283065498378288e-10  // 1 / 4294967086
CUPOLA_RANDOM float curand_uniform(curandStateMRG32k3a_t* state) {
  return (float)(curand_MRG32k3a(state) * CUPOLA_MRG32K3A_STEP);
}
CUPOLA_RANDOM double curand_uniform_double(curandStateMRG32k3a_t* state) {
  return curand_MRG32k3a(state) * CUPOLA_MRG32K3A_STEP;
}
CUPOLA_RANDOM float2 curand_normal2(curandStateMRG32k3a_t* state) {
  const float u = curand_uniform(state);
  return cupola::random::box_muller(u, 2 * curand_uniform(state));
}
CUPOLA_RANDOM double2 curand_normal2_double(curandStateMRG32k3a_t* state) {
  const double u = curand_uniform_double(state);
  return cupola::random::box_muller(u, 2 * curand_uniform_double(state));
}

namespace cupola {
namespace random {

/// What the spare number of a pair is; one of another kind is dropped.
enum Spare { kNone = 0, kNormal = 1, kLogNormal = 2 };

/// The spare one if it is of the kind, else the first of a new pair.
template <typename Number, typename Pair>
CUPOLA_RANDOM Number next_of_pair(int& flag, Number& extra, Spare kind, Pair make) {
  if (flag == kind) {
    flag = kNone;
    return extra;
  }
  const auto pair = make();
  flag = kind;
  extra = pair.y;
  return pair.x;
}

}  // namespace random
}  // namespace cupola

#define CUPOLA_NORMAL(state_t)                                                                                      \
  CUPOLA_RANDOM float2 curand_log_normal2(state_t* state, float mean, float stddev) {                               \
    const float2 pair = curand_normal2(state);                                                                      \
    return {expf(mean + stddev * pair.x), expf(mean + stddev * pair.y)};                                            \
  }                                                                                                                 \
  CUPOLA_RANDOM double2 curand_log_normal2_double(state_t* state, double mean, double stddev) {                     \
    const double2 pair = curand_normal2_double(state);                                                              \
    return {exp(mean + stddev * pair.x), exp(mean + stddev * pair.y)};                                              \
  }                                                                                                                 \
  CUPOLA_RANDOM float curand_normal(state_t* state) {                                                               \
    return cupola::random::next_of_pair(state->boxmuller_flag, state->boxmuller_extra, cupola::random::kNormal,     \
                                        [state] { return curand_normal2(state); });                                 \
  }                                                                                                                 \
  CUPOLA_RANDOM double curand_normal_double(state_t* state) {                                                       \
    return cupola::random::next_of_pair(state->boxmuller_flag_double, state->boxmuller_extra_double,                \
                                        cupola::random::kNormal, [state] { return curand_normal2_double(state); }); \
  }                                                                                                                 \
  CUPOLA_RANDOM float curand_log_normal(state_t* state, float mean, float stddev) {                                 \
    return cupola::random::next_of_pair(state->boxmuller_flag, state->boxmuller_extra, cupola::random::kLogNormal,  \
                                        [=] { return curand_log_normal2(state, mean, stddev); });                   \
  }                                                                                                                 \
  CUPOLA_RANDOM double curand_log_normal_double(state_t* state, double mean, double stddev) {                       \
    return cupola::random::next_of_pair(state->boxmuller_flag_double, state->boxmuller_extra_double,                \
                                        cupola::random::kLogNormal,                                                 \
                                        [=] { return curand_log_normal2_double(state, mean, stddev); });            \
  }                                                                                                                 \
  CUPOLA_RANDOM unsigned int curand_poisson(state_t* state, double lambda) {                                        \
    return cupola::random::poisson(state, lambda);                                                                  \
  }
CUPOLA_NORMAL(curandStateXORWOW_t)
CUPOLA_NORMAL(curandStatePhilox4_32_10_t)
CUPOLA_NORMAL(curandStateMRG32k3a_t)
#undef CUPOLA_NORMAL
#undef CUPOLA_MRG32K3A_STEP

// -- quasirandom generators: one number in, one number out --

#define CUPOLA_QUASI(state_t)                                                                                          \
  CUPOLA_RANDOM float curand_uniform(state_t* state) { return cupola::random::uniform(curand(state)); }                \
  CUPOLA_RANDOM double curand_uniform_double(state_t* state) { return cupola::random::uniform_double(curand(state)); } \
  CUPOLA_RANDOM float curand_normal(state_t* state) { return normcdfinvf(curand_uniform(state)); }                     \
  CUPOLA_RANDOM double curand_normal_double(state_t* state) { return normcdfinv(curand_uniform_double(state)); }       \
  CUPOLA_RANDOM unsigned int curand_poisson(state_t* state, double lambda) {                                           \
    return cupola::random::inverse_poisson(curand_uniform_double(state), lambda);                                      \
  }
CUPOLA_QUASI(curandStateSobol32_t)
CUPOLA_QUASI(curandStateSobol64_t)
CUPOLA_QUASI(curandStateScrambledSobol32_t)
CUPOLA_QUASI(curandStateScrambledSobol64_t)
#undef CUPOLA_QUASI

#define CUPOLA_LOG_NORMAL(state_t)                                                            \
  CUPOLA_RANDOM float curand_log_normal(state_t* state, float mean, float stddev) {           \
    return expf(mean + stddev * curand_normal(state));                                        \
  }                                                                                           \
  CUPOLA_RANDOM double curand_log_normal_double(state_t* state, double mean, double stddev) { \
    return exp(mean + stddev * curand_normal_double(state));                                  \
  }
CUPOLA_LOG_NORMAL(curandStateSobol32_t)
CUPOLA_LOG_NORMAL(curandStateSobol64_t)
CUPOLA_LOG_NORMAL(curandStateScrambledSobol32_t)
CUPOLA_LOG_NORMAL(curandStateScrambledSobol64_t)
#undef CUPOLA_LOG_NORMAL

// -- Philox: four at a time --

CUPOLA_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  using cupola::random::uniform;
  return {uniform(x.x), uniform(x.y), uniform(x.z), uniform(x.w)};
}
CUPOLA_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  return {cupola::random::uniform_double(x.x, x.y), cupola::random::uniform_double(x.z, x.w)};
}
CUPOLA_RANDOM float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
  const uint4 x = curand4(state);
  const float2 a = cupola::random::normal(x.x, x.y), b = cupola::random::normal(x.z, x.w);
  return {a.x, a.y, b.x, b.y};
}
CUPOLA_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float stddev) {
  const float4 x = curand_normal4(state);
  return {expf(mean + stddev * x.x), expf(mean + stddev * x.y), expf(mean + stddev * x.z), expf(mean + stddev * x.w)};
}
CUPOLA_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
  uint4 result;
  result.x = curand_poisson(state, lambda);
  result.y = curand_poisson(state, lambda);
  result.z = curand_poisson(state, lambda);
  result.w = curand_poisson(state, lambda);
  return result;
}
#define CUPOLA_DOUBLE_4(type)                                                                                   \
  CUPOLA_RANDOM type curand_uniform4_double(curandStatePhilox4_32_10_t* state) {                                \
    const double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);                         \
    return {a.x, a.y, b.x, b.y};                                                                                \
  }                                                                                                             \
  CUPOLA_RANDOM type curand_normal4_double(curandStatePhilox4_32_10_t* state) {                                 \
    const double2 a = curand_normal2_double(state), b = curand_normal2_double(state);                           \
    return {a.x, a.y, b.x, b.y};                                                                                \
  }                                                                                                             \
  CUPOLA_RANDOM type curand_log_normal4_double(curandStatePhilox4_32_10_t* state, double mean, double stddev) { \
    const double2 a = curand_log_normal2_double(state, mean, stddev);                                           \
    const double2 b = curand_log_normal2_double(state, mean, stddev);                                           \
    return {a.x, a.y, b.x, b.y};                                                                                \
  }
CUPOLA_DOUBLE_4(double4)
#undef CUPOLA_DOUBLE_4

#pragma pop_macro("CUPOLA_RANDOM")
