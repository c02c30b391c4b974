// n, and the number of options and paths, are multiples of 64.

#include "bodies.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#include <cmath>

#include "hash.h"
#include "simd.h"

namespace bench::expert {
namespace {

/// 1 / sqrt(v), where there is one by the processor's estimate and a step of Newton's.
Floats inverse_root(Floats v) {
#ifdef __AVX512F__
  const Floats estimate = _mm512_rsqrt14_ps(v);
  return estimate * (1.5f - 0.5f * v * estimate * estimate);
#else
  for (int i = 0; i < kLanes; ++i) v[i] = __builtin_sqrtf(v[i]);
  return 1 / v;
#endif
}

/// Coordinates apart from each other, sixteen bodies in a vector, all others one by one.
void forces(const float* bodies, float* forces, int n) {
  constexpr int kVectors = 2;
#pragma omp parallel for
  for (int i = 0; i < n; i += kVectors * kLanes) {
    Floats x[kVectors], y[kVectors], z[kVectors], fx[kVectors] = {}, fy[kVectors] = {}, fz[kVectors] = {};
    for (int v = 0; v < kVectors; ++v)
      for (int lane = 0; lane < kLanes; ++lane) {
        const float* body = bodies + 4 * (i + v * kLanes + lane);
        x[v][lane] = body[0], y[v][lane] = body[1], z[v][lane] = body[2];
      }
    for (int k = 0; k < n; ++k) {
      const float* other = bodies + 4 * k;
      for (int v = 0; v < kVectors; ++v) {
        const Floats dx = other[0] - x[v], dy = other[1] - y[v], dz = other[2] - z[v];
        const Floats inverse = inverse_root(dx * dx + dy * dy + dz * dz + kSoftening);
        const Floats weight = other[3] * inverse * inverse * inverse;
        fx[v] += dx * weight;
        fy[v] += dy * weight;
        fz[v] += dz * weight;
      }
    }
    for (int v = 0; v < kVectors; ++v)
      for (int lane = 0; lane < kLanes; ++lane) {
        float* force = forces + 3 * (i + v * kLanes + lane);
        force[0] = fx[v][lane], force[1] = fy[v][lane], force[2] = fz[v][lane];
      }
  }
}

inline float normal(float d) {
  const float k = 1 / (1 + 0.2316419f * std::fabs(d));
  const float tail =
      0.39894228f * fast_exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}

void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) {
    const float root = __builtin_sqrtf(years[i]);
    const float d1 =
        (fast_log(price[i] / strike[i]) + (kRate + 0.5f * kVolatility * kVolatility) * years[i]) / (kVolatility * root);
    const float n1 = normal(d1), n2 = normal(d1 - kVolatility * root), discount = fast_exp(-kRate * years[i]);
    call[i] = price[i] * n1 - strike[i] * discount * n2;
    put[i] = strike[i] * discount * (1 - n2) - price[i] * (1 - n1);
  }
}

/// Four vectors of generators: what one waits for, others fill.
void monte_carlo(int* hits, int paths) {
  constexpr int kVectors = 4;
#pragma omp parallel for
  for (int i = 0; i < paths; i += kVectors * kLanes) {
    Words states[kVectors];
    Ints counts[kVectors] = {};
    for (int v = 0; v < kVectors; ++v)
      for (int lane = 0; lane < kLanes; ++lane) states[v][lane] = hash(i + v * kLanes + lane) | 1;
    for (int step = 0; step < kSteps; ++step)
      for (int v = 0; v < kVectors; ++v) {
        Words& state = states[v];
        state ^= state << 13, state ^= state >> 17, state ^= state << 5;
        const Words x = state & 0x7fff, y = state >> 17;
        counts[v] -= x * x + y * y < 1u << 30;  // true is -1
      }
    for (int v = 0; v < kVectors; ++v)
      for (int lane = 0; lane < kLanes; ++lane) hits[i + v * kLanes + lane] = counts[v][lane];
  }
}

}  // namespace

const Bodies bodies = {forces, black_scholes, monte_carlo};

}  // namespace bench::expert
