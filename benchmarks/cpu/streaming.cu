// Kernels that memory bounds: one or two reads and a write for each thread.

#include "streaming.h"

#include "block_sum.h"
#include "suite.h"

namespace {

__global__ void copy(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i];
}

__global__ void triad(float a, const float* x, const float* y, float* z, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) z[i] = x[i] + a * y[i];
}

/// The same of images: a thread for each of their numbers, in blocks of two dimensions.
__global__ void triad_of_images(float a, const float* x, const float* y, float* z, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < width && row < height) z[row * width + column] = x[row * width + column] + a * y[row * width + column];
}

__global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void scale_points(float a, const float4* x, float4* y, int points) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= points) return;
  float4 p = x[i];
  y[i] = make_float4(a * p.x, a * p.y, a * p.z, p.w);
}

__global__ void dot(const float* x, const float* y, float* total, int n) {
  float mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i] * y[i];
  const float sum = bench::block_sum(mine);
  if (threadIdx.x == 0) atomicAdd(total, sum);
}

constexpr const char* kOpenCl = R"cl(
kernel void copy(global const float* x, global float* y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = x[i];
}
kernel void triad(float a, global const float* x, global const float* y, global float* z, int n) {
  int i = get_global_id(0);
  if (i < n) z[i] = x[i] + a * y[i];
}
kernel void triad_of_images(float a, global const float* x, global const float* y, global float* z, int width, int height) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column < width && row < height) z[row * width + column] = x[row * width + column] + a * y[row * width + column];
}
kernel void saxpy(float a, global const float* x, global float* y, int n) {
  int i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
kernel void scale_points(float a, global const float4* x, global float4* y, int points) {
  int i = get_global_id(0);
  if (i >= points) return;
  float4 p = x[i];
  y[i] = (float4)(a * p.x, a * p.y, a * p.z, p.w);
}
kernel void dot_blocks(global const float* x, global const float* y, global float* totals, int n) {
  local float sums[256];
  float mine = 0;
  int t = get_local_id(0);
  for (int i = get_global_id(0); i < n; i += get_global_size(0)) mine += x[i] * y[i];
  sums[t] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (t < width) sums[t] += sums[t + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) totals[get_group_id(0)] = sums[0];
}
)cl";

}  // namespace

namespace bench {

void run_streaming(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const int n = 1 << 25, points = n / 4, threads = 256;
  const float a = 0.75f;
  const double bytes = 4.0 * n;
  Array<float> x(n, spread(-1, 1)), y(n, spread(0, 1)), z(n);

  suite.run(Case<Streaming>{.name = "copy",
                            .work = {.bytes = 2 * bytes},
                            .outputs = {near(z, 0)},
                            .ours = [&] { copy<<<n / threads, threads>>>(x, z, n); },
                            .loops = [&](const Streaming& loops) { loops.copy(x, z, n); },
                            .opencl = [&](OpenCl& cl) { cl.launch("copy", n, threads, x, z, n); },
                            .limits = limit_moves({{x}, z, x.size()})});
  suite.run(Case<Streaming>{.name = "triad",
                            .work = {.bytes = 3 * bytes},
                            .outputs = {near(z, 1e-6)},
                            .ours = [&] { triad<<<n / threads, threads>>>(a, x, y, z, n); },
                            .loops = [&](const Streaming& loops) { loops.triad(a, x, y, z, n); },
                            .opencl = [&](OpenCl& cl) { cl.launch("triad", n, threads, a, x, y, z, n); },
                            .limits = limit_moves({{x, y}, z, x.size()})});
  const int width = 8192, height = n / width, side = 16;
  suite.run(Case<Streaming>{
      .name = "triad/16x16",
      .work = {.bytes = 3 * bytes},
      .outputs = {near(z, 1e-6)},
      .ours =
          [&] { triad_of_images<<<dim3(width / side, height / side), dim3(side, side)>>>(a, x, y, z, width, height); },
      .loops = [&](const Streaming& loops) { loops.triad(a, x, y, z, n); },
      .opencl =
          [&](OpenCl& cl) { cl.launch("triad_of_images", {width, height}, {side, side}, a, x, y, z, width, height); },
      .limits = limit_moves({{x, y}, z, x.size()})});
  suite.run(Case<Streaming>{.name = "saxpy",
                            .work = {.bytes = 3 * bytes},
                            .outputs = {near(z, 1e-6)},
                            .prepare = [&] { std::memcpy(z, y, y.bytes()); },
                            .ours = [&] { saxpy<<<n / threads, threads>>>(a, x, z, n); },
                            .loops = [&](const Streaming& loops) { loops.saxpy(a, x, z, n); },
                            .opencl = [&](OpenCl& cl) { cl.launch("saxpy", n, threads, a, x, z, n); },
                            .limits = limit_moves({{x, z}, z, x.size()})});
  suite.run(Case<Streaming>{
      .name = "float4",
      .work = {.bytes = 2 * bytes},
      .outputs = {near(z, 0)},
      .ours = [&] { scale_points<<<points / threads, threads>>>(a, x.as<float4>(), z.as<float4>(), points); },
      .loops = [&](const Streaming& loops) { loops.scale_points(a, x, z, points); },
      .opencl = [&](OpenCl& cl) { cl.launch("scale_points", points, threads, a, x, z, points); },
      .limits = limit_moves({{x}, z, x.size()})});

  const int blocks = 512;
  Array<float> total(1), totals(blocks);
  suite.run(Case<Streaming>{.name = "dot",
                            .trait = "barriers",
                            .work = {.bytes = 2 * bytes},
                            .outputs = {near(total, 2e-3)},
                            .prepare = [&] { total[0] = 0; },
                            .ours = [&] { dot<<<blocks, threads>>>(x, y, total, n); },
                            .loops = [&](const Streaming& loops) { total[0] = loops.dot(x, y, n); },
                            .opencl =
                                [&](OpenCl& cl) {
                                  cl.launch("dot_blocks", size_t{blocks} * threads, threads, x, y, totals, n);
                                  cl.finish();
                                  total[0] = 0;
                                  for (size_t i = 0; i < totals.size(); ++i) total[0] += totals[i];
                                },
                            .limits = limit_moves({{x, y}, nullptr, x.size()})});
}

}  // namespace bench
