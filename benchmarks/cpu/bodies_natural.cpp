#include "bodies.h"

#include <cmath>

#include "hash.h"

namespace bench::BENCH_BY {
namespace {

void forces(const float* bodies, float* forces, int n) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const float x = bodies[4 * i], y = bodies[4 * i + 1], z = bodies[4 * i + 2];
    float fx = 0, fy = 0, fz = 0;
#pragma omp simd reduction(+ : fx, fy, fz)
    for (int k = 0; k < n; ++k) {
      const float dx = bodies[4 * k] - x, dy = bodies[4 * k + 1] - y, dz = bodies[4 * k + 2] - z;
      const float inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + kSoftening);
      const float weight = bodies[4 * k + 3] * inverse * inverse * inverse;
      fx += dx * weight;
      fy += dy * weight;
      fz += dz * weight;
    }
    forces[3 * i] = fx;
    forces[3 * i + 1] = fy;
    forces[3 * i + 2] = fz;
  }
}

/// The cumulative normal distribution, by Abramowitz and Stegun's formula 26.2.17.
inline float normal(float d) {
  const float k = 1 / (1 + 0.2316419f * std::fabs(d));
  const float tail =
      0.39894228f * std::exp(-0.5f * d * d) *
      (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}

void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put, int n) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i) {
    const float root = std::sqrt(years[i]);
    const float d1 =
        (std::log(price[i] / strike[i]) + (kRate + 0.5f * kVolatility * kVolatility) * years[i]) / (kVolatility * root);
    const float n1 = normal(d1), n2 = normal(d1 - kVolatility * root), discount = std::exp(-kRate * years[i]);
    call[i] = price[i] * n1 - strike[i] * discount * n2;
    put[i] = strike[i] * discount * (1 - n2) - price[i] * (1 - n1);
  }
}

void monte_carlo(int* hits, int paths) {
#pragma omp parallel for simd
  for (int i = 0; i < paths; ++i) {
    unsigned state = hash(i) | 1;
    int count = 0;
    for (int step = 0; step < kSteps; ++step) {
      state ^= state << 13, state ^= state >> 17, state ^= state << 5;
      const unsigned x = state & 0x7fff, y = state >> 17;
      count += x * x + y * y < 1u << 30;
    }
    hits[i] = count;
  }
}

}  // namespace

const Bodies bodies = {forces, black_scholes, monte_carlo};

}  // namespace bench::BENCH_BY
