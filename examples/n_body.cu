// Gravity among bodies: each thread follows one body and meets all the others tile by tile. Momentum must be conserved,
// and one step must agree with the host's.

#include <vector>

#include "example.h"

constexpr int kBlock = 128;
constexpr float kSoftening = 0.01f;

__host__ __device__ inline float3 pull(float4 on, float4 from, float3 sum) {
  float dx = from.x - on.x, dy = from.y - on.y, dz = from.z - on.z;
  float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + kSoftening);
  float weight = from.w * inverse * inverse * inverse;
  return make_float3(sum.x + dx * weight, sum.y + dy * weight, sum.z + dz * weight);
}

__global__ void step(const float4* bodies, float4* next, float4* velocities, float dt, int n) {
  __shared__ float4 tile[kBlock];
  int i = blockIdx.x * kBlock + threadIdx.x;
  float4 body = bodies[i];
  float3 force = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += kBlock) {
    tile[threadIdx.x] = bodies[base + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < kBlock; ++k) force = pull(body, tile[k], force);
    __syncthreads();
  }
  float4 velocity = velocities[i];
  velocity.x += dt * force.x;
  velocity.y += dt * force.y;
  velocity.z += dt * force.z;
  velocities[i] = velocity;
  next[i] = make_float4(body.x + dt * velocity.x, body.y + dt * velocity.y, body.z + dt * velocity.z, body.w);
}

int main() {
  const int n = 1024, steps = 4;
  const float dt = 0.001f;
  std::vector<float4> bodies(n);
  for (int i = 0; i < n; ++i) {
    float angle = 0.1f * i, radius = 1 + 0.001f * i;
    bodies[i] = make_float4(radius * std::cos(angle), radius * std::sin(angle), 0.01f * (i % 100), 1.0f / n);
  }
  float4 *current, *next, *velocities;
  CHECK_CUDA(cudaMalloc(&current, n * sizeof(float4)));
  CHECK_CUDA(cudaMalloc(&next, n * sizeof(float4)));
  CHECK_CUDA(cudaMalloc(&velocities, n * sizeof(float4)));
  CHECK_CUDA(cudaMemcpy(current, bodies.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(velocities, 0, n * sizeof(float4)));

  step<<<n / kBlock, kBlock>>>(current, next, velocities, dt, n);
  std::vector<float4> first(n);
  CHECK_CUDA(cudaMemcpy(first.data(), next, n * sizeof(float4), cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < n; ++i) {
    double fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < n; ++k) {
      double dx = bodies[k].x - bodies[i].x, dy = bodies[k].y - bodies[i].y, dz = bodies[k].z - bodies[i].z;
      double inverse = 1 / std::sqrt(dx * dx + dy * dy + dz * dz + kSoftening);
      double weight = bodies[k].w * inverse * inverse * inverse;
      fx += dx * weight, fy += dy * weight, fz += dz * weight;
    }
    right &= near(first[i].x, bodies[i].x + dt * dt * fx, 1e-6) && near(first[i].y, bodies[i].y + dt * dt * fy, 1e-6) &&
             near(first[i].z, bodies[i].z + dt * dt * fz, 1e-6);
  }

  for (int s = 1; s < steps; ++s) {
    std::swap(current, next);
    step<<<n / kBlock, kBlock>>>(current, next, velocities, dt, n);
  }
  std::vector<float4> speed(n);
  CHECK_CUDA(cudaMemcpy(speed.data(), velocities, n * sizeof(float4), cudaMemcpyDeviceToHost));
  double px = 0, py = 0, pz = 0, moving = 0;
  for (const float4& v : speed) px += v.x, py += v.y, pz += v.z, moving += std::fabs(v.x);
  std::printf("momentum after %d steps: (%.1e, %.1e, %.1e)\n", steps, px / n, py / n, pz / n);
  right &= moving > 0 && std::fabs(px) / n < 1e-6 && std::fabs(py) / n < 1e-6 && std::fabs(pz) / n < 1e-6;
  CHECK_CUDA(cudaFree(current));
  CHECK_CUDA(cudaFree(next));
  CHECK_CUDA(cudaFree(velocities));
  return verdict("n-body with 1,024 bodies", right);
}
