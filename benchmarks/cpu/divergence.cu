// Threads that go different ways: each pixel takes a number of steps of its own.

#include "divergence.h"

#include "suite.h"

namespace {

__global__ void mandelbrot(int* counts, int width, int height, int limit) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  float x0 = -2.2f + 3.2f * column / width, y0 = -1.2f + 2.4f * row / height, x = 0, y = 0;
  int count = 0;
  for (; count < limit && x * x + y * y <= 4; ++count) {
    float next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
  }
  counts[row * width + column] = count;
}

__global__ void ray_march(float* depths, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  depths[row * width + column] = bench::march(column, row, width, height);
}

constexpr const char* kOpenCl = R"cl(
kernel void mandelbrot(global int* counts, int width, int height, int limit) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column >= width || row >= height) return;
  float x0 = -2.2f + 3.2f * column / width, y0 = -1.2f + 2.4f * row / height, x = 0, y = 0;
  int count = 0;
  for (; count < limit && x * x + y * y <= 4; ++count) {
    float next = x * x - y * y + x0;
    y = 2 * x * y + y0;
    x = next;
  }
  counts[row * width + column] = count;
}
float scene(float x, float y, float z) {
  float cx = x - 2 * floor(0.5f * x) - 1, cz = z - 2 * floor(0.5f * z) - 1;
  float balls = sqrt(cx * cx + y * y + cz * cz) - 0.6f;
  float hole = 2.5f - sqrt(x * x + y * y + (z - 4) * (z - 4));
  return fmin(fmax(balls, hole), y + 1);
}
float march(int column, int row, int width, int height) {
  float u = (column + 0.5f) / width - 0.5f, v = 0.3f - (row + 0.5f) / height;
  float scale = 1 / sqrt(u * u + v * v + 1), depth = 0;
  for (int step = 0; step < 96; ++step) {
    float distance = scene(u * scale * depth, 0.8f + v * scale * depth, scale * depth - 2);
    if (distance < 1e-3f) return depth;
    depth += distance;
    if (depth > 20) return 20;
  }
  return depth;
}
kernel void ray_march(global float* depths, int width, int height) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column >= width || row >= height) return;
  depths[row * width + column] = march(column, row, width, height);
}
)cl";

}  // namespace

namespace bench {

void run_divergence(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const dim3 threads(16, 16);
  const int side = 1024, limit = 256;
  const double kDecidedByRounding = 0.002;  // pixels whose steps depend on where products and sums are fused

  Array<int> counts(side * side);
  suite.run(Case<Divergence>{
      .name = "mandelbrot",
      .trait = "divergence",
      .outputs = {exact(counts, kDecidedByRounding)},
      .ours = [&] { mandelbrot<<<dim3(side / 16, side / 16), threads>>>(counts, side, side, limit); },
      .loops = [&](const Divergence& loops) { loops.mandelbrot(counts, side, side, limit); },
      .opencl = [&](OpenCl& cl) { cl.launch("mandelbrot", {side, side}, {16, 16}, counts, side, side, limit); }});

  const int pixels = 768;
  Array<float> depths(pixels * pixels);
  suite.run(Case<Divergence>{
      .name = "ray-march",
      .trait = "divergence",
      .outputs = {near(depths, 5e-3, 1, kDecidedByRounding)},
      .ours = [&] { ray_march<<<dim3(pixels / 16, pixels / 16), threads>>>(depths, pixels, pixels); },
      .loops = [&](const Divergence& loops) { loops.ray_march(depths, pixels, pixels); },
      .opencl = [&](OpenCl& cl) { cl.launch("ray_march", {pixels, pixels}, {16, 16}, depths, pixels, pixels); }});
}

}  // namespace bench
