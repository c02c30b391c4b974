// Kernels that compute: forces between bodies, prices of options, and a Monte Carlo estimate with integers.

#include "bodies.h"

#include "suite.h"

namespace {

using namespace bench;

__global__ void forces(const float4* bodies, float3* forces, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 body = bodies[i];
  float3 force = make_float3(0, 0, 0);
  for (int k = 0; k < n; ++k) {
    float4 other = bodies[k];
    float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
    float weight = other.w * inverse * inverse * inverse;
    force.x += dx * weight;
    force.y += dy * weight;
    force.z += dz * weight;
  }
  forces[i] = force;
}

/// The cumulative normal distribution, by Abramowitz and Stegun's formula 26.2.17.
__device__ float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabsf(d));
  float tail = 0.39894228f * expf(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}

__global__ void black_scholes(const float* price, const float* strike, const float* years, float* call, float* put,
                              int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float root = sqrtf(years[i]);
  float d1 =
      (logf(price[i] / strike[i]) + (kRate + 0.5f * kVolatility * kVolatility) * years[i]) / (kVolatility * root);
  float n1 = normal(d1), n2 = normal(d1 - kVolatility * root), discount = expf(-kRate * years[i]);
  call[i] = price[i] * n1 - strike[i] * discount * n2;
  put[i] = strike[i] * discount * (1 - n2) - price[i] * (1 - n1);
}

__global__ void monte_carlo(int* hits, int paths) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= paths) return;
  unsigned state = hash(i) | 1;
  int count = 0;
  for (int step = 0; step < kSteps; ++step) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    unsigned x = state & 0x7fff, y = state >> 17;
    if (x * x + y * y < 1u << 30) ++count;
  }
  hits[i] = count;
}

constexpr const char* kOpenCl = R"cl(
kernel void forces(global const float4* bodies, global float* forces, int n) {
  int i = get_global_id(0);
  float4 body = bodies[i];
  float3 force = (float3)(0, 0, 0);
  for (int k = 0; k < n; ++k) {
    float4 other = bodies[k];
    float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
    float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
    float weight = other.w * inverse * inverse * inverse;
    force.x += dx * weight;
    force.y += dy * weight;
    force.z += dz * weight;
  }
  vstore3(force, i, forces);
}
float normal(float d) {
  float k = 1 / (1 + 0.2316419f * fabs(d));
  float tail = 0.39894228f * exp(-0.5f * d * d) *
               (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1 - tail : tail;
}
kernel void black_scholes(global const float* price, global const float* strike, global const float* years,
                          global float* call, global float* put, int n) {
  const float rate = 0.02f, volatility = 0.3f;
  int i = get_global_id(0);
  if (i >= n) return;
  float root = sqrt(years[i]);
  float d1 = (log(price[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
  float n1 = normal(d1), n2 = normal(d1 - volatility * root), discount = exp(-rate * years[i]);
  call[i] = price[i] * n1 - strike[i] * discount * n2;
  put[i] = strike[i] * discount * (1 - n2) - price[i] * (1 - n1);
}
uint hash(uint i) {
  i = (i ^ (i >> 16)) * 0x7feb352du;
  i = (i ^ (i >> 15)) * 0x846ca68bu;
  return i ^ (i >> 16);
}
kernel void monte_carlo(global int* hits, int paths) {
  int i = get_global_id(0);
  if (i >= paths) return;
  uint state = hash(i) | 1;
  int count = 0;
  for (int step = 0; step < 256; ++step) {
    state ^= state << 13, state ^= state >> 17, state ^= state << 5;
    uint x = state & 0x7fff, y = state >> 17;
    if (x * x + y * y < 1u << 30) ++count;
  }
  hits[i] = count;
}
)cl";

}  // namespace

namespace bench {

void run_bodies(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const int threads = 256;
  const int bodies = 8192;
  Array<float> places(4 * bodies, spread(0, 1)), force(3 * bodies);
  suite.run(Case<Bodies>{
      .name = "n-body",
      .work = {.flops = 20.0 * bodies * bodies},
      .outputs = {near(force, 1e-3, 100)},  // sums of 8192 terms of both signs
      .ours = [&] { forces<<<bodies / threads, threads>>>(places.as<float4>(), force.as<float3>(), bodies); },
      .loops = [&](const Bodies& loops) { loops.forces(places, force, bodies); },
      .opencl = [&](OpenCl& cl) { cl.launch("forces", bodies, threads, places, force, bodies); }});

  const int n = 1 << 22;
  Array<float> price(n, spread(5, 30)), strike(n, [](size_t i) { return spread(1, 100)(i + 77); });
  Array<float> years(n, [](size_t i) { return spread(0.25f, 10)(i + 7777); }), call(n), put(n);
  suite.run(Case<Bodies>{
      .name = "black-scholes",
      .work = {.bytes = 20.0 * n},
      .outputs = {near(call, 1e-5, 100), near(put, 1e-5, 100)},  // differences of numbers up to 100
      .ours = [&] { black_scholes<<<n / threads, threads>>>(price, strike, years, call, put, n); },
      .loops = [&](const Bodies& loops) { loops.black_scholes(price, strike, years, call, put, n); },
      .opencl = [&](OpenCl& cl) { cl.launch("black_scholes", n, threads, price, strike, years, call, put, n); }});

  const int paths = 1 << 17;
  Array<int> hits(paths);
  suite.run(Case<Bodies>{.name = "monte-carlo",
                         .work = {.integer_operations = 14.0 * kSteps * paths},
                         .outputs = {exact(hits)},
                         .ours = [&] { monte_carlo<<<paths / threads, threads>>>(hits, paths); },
                         .loops = [&](const Bodies& loops) { loops.monte_carlo(hits, paths); },
                         .opencl = [&](OpenCl& cl) { cl.launch("monte_carlo", paths, threads, hits, paths); }});
}

}  // namespace bench
