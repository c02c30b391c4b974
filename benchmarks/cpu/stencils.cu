// Stencils in two and three dimensions, straight from memory and through shared memory, and a convolution.

#include "stencils.h"

#include "suite.h"

namespace {

using bench::kFilter;
constexpr int kTile = 16;

__constant__ float filter_weights[kFilter * kFilter];

__global__ void five_points(const float* x, float* y, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  int i = row * width + column;
  if (row == 0 || row == height - 1 || column == 0 || column == width - 1)
    y[i] = x[i];
  else
    y[i] = 0.5f * x[i] + 0.125f * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
}

__global__ void five_points_shared(const float* x, float* y, int width, int height) {
  __shared__ float tile[kTile + 2][kTile + 2];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1, i = row * width + column;
  bool inside = column < width && row < height;
  if (inside) {
    tile[ty][tx] = x[i];
    if (threadIdx.x == 0 && column > 0) tile[ty][0] = x[i - 1];
    if (threadIdx.x == kTile - 1 && column < width - 1) tile[ty][kTile + 1] = x[i + 1];
    if (threadIdx.y == 0 && row > 0) tile[0][tx] = x[i - width];
    if (threadIdx.y == kTile - 1 && row < height - 1) tile[kTile + 1][tx] = x[i + width];
  }
  __syncthreads();
  if (!inside) return;
  if (row == 0 || row == height - 1 || column == 0 || column == width - 1)
    y[i] = tile[ty][tx];
  else
    y[i] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}

__global__ void seven_points(const float* x, float* y, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (column >= n || row >= n || z >= n) return;
  int i = (z * n + row) * n + column;
  if (z == 0 || z == n - 1 || row == 0 || row == n - 1 || column == 0 || column == n - 1)
    y[i] = x[i];
  else
    y[i] = 0.4f * x[i] + 0.1f * (x[i - 1] + x[i + 1] + x[i - n] + x[i + n] + x[i - n * n] + x[i + n * n]);
}

/// A block goes up a column of the volume; neighbours in the plane come from shared memory, the others from registers.
__global__ void seven_points_shared(const float* x, float* y, int n) {
  __shared__ float tile[kTile + 2][kTile + 2];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
  bool border = row == 0 || row == n - 1 || column == 0 || column == n - 1;
  int plane = n * n, i = row * n + column;
  float below = 0, here = x[i], above = x[i + plane];
  for (int z = 0; z < n; ++z) {
    tile[ty][tx] = here;
    if (threadIdx.x == 0 && column > 0) tile[ty][0] = x[i - 1];
    if (threadIdx.x == kTile - 1 && column < n - 1) tile[ty][kTile + 1] = x[i + 1];
    if (threadIdx.y == 0 && row > 0) tile[0][tx] = x[i - n];
    if (threadIdx.y == kTile - 1 && row < n - 1) tile[kTile + 1][tx] = x[i + n];
    __syncthreads();
    if (border || z == 0 || z == n - 1)
      y[i] = here;
    else
      y[i] = 0.4f * here +
             0.1f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + below + above);
    __syncthreads();
    below = here;
    here = above;
    i += plane;
    if (z + 2 < n) above = x[i + plane];
  }
}

__global__ void convolution(const float* image, float* result, int width, int height) {
  constexpr int kSide = kTile + kFilter - 1;
  __shared__ float tile[kSide][kSide];
  int left = blockIdx.x * kTile, top = blockIdx.y * kTile, pitch = width + kFilter - 1;
  for (int ty = threadIdx.y; ty < kSide; ty += kTile)
    for (int tx = threadIdx.x; tx < kSide; tx += kTile) tile[ty][tx] = image[(top + ty) * pitch + left + tx];
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < kFilter; ++i)
    for (int k = 0; k < kFilter; ++k) sum += filter_weights[i * kFilter + k] * tile[threadIdx.y + i][threadIdx.x + k];
  result[(top + threadIdx.y) * width + left + threadIdx.x] = sum;
}

constexpr const char* kOpenCl = R"cl(
#define T 16
#define F 7
kernel void five_points(global const float* x, global float* y, int width, int height) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column >= width || row >= height) return;
  int i = row * width + column;
  if (row == 0 || row == height - 1 || column == 0 || column == width - 1)
    y[i] = x[i];
  else
    y[i] = 0.5f * x[i] + 0.125f * (x[i - 1] + x[i + 1] + x[i - width] + x[i + width]);
}
kernel void five_points_shared(global const float* x, global float* y, int width, int height) {
  local float tile[T + 2][T + 2];
  int column = get_global_id(0), row = get_global_id(1);
  int tx = get_local_id(0) + 1, ty = get_local_id(1) + 1, i = row * width + column;
  bool inside = column < width && row < height;
  if (inside) {
    tile[ty][tx] = x[i];
    if (tx == 1 && column > 0) tile[ty][0] = x[i - 1];
    if (tx == T && column < width - 1) tile[ty][T + 1] = x[i + 1];
    if (ty == 1 && row > 0) tile[0][tx] = x[i - width];
    if (ty == T && row < height - 1) tile[T + 1][tx] = x[i + width];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!inside) return;
  if (row == 0 || row == height - 1 || column == 0 || column == width - 1)
    y[i] = tile[ty][tx];
  else
    y[i] = 0.5f * tile[ty][tx] + 0.125f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx]);
}
kernel void seven_points(global const float* x, global float* y, int n) {
  int column = get_global_id(0), row = get_global_id(1), z = get_global_id(2);
  if (column >= n || row >= n || z >= n) return;
  int i = (z * n + row) * n + column;
  if (z == 0 || z == n - 1 || row == 0 || row == n - 1 || column == 0 || column == n - 1)
    y[i] = x[i];
  else
    y[i] = 0.4f * x[i] + 0.1f * (x[i - 1] + x[i + 1] + x[i - n] + x[i + n] + x[i - n * n] + x[i + n * n]);
}
kernel void seven_points_shared(global const float* x, global float* y, int n) {
  local float tile[T + 2][T + 2];
  int column = get_global_id(0), row = get_global_id(1);
  int tx = get_local_id(0) + 1, ty = get_local_id(1) + 1;
  bool border = row == 0 || row == n - 1 || column == 0 || column == n - 1;
  int plane = n * n, i = row * n + column;
  float below = 0, here = x[i], above = x[i + plane];
  for (int z = 0; z < n; ++z) {
    tile[ty][tx] = here;
    if (tx == 1 && column > 0) tile[ty][0] = x[i - 1];
    if (tx == T && column < n - 1) tile[ty][T + 1] = x[i + 1];
    if (ty == 1 && row > 0) tile[0][tx] = x[i - n];
    if (ty == T && row < n - 1) tile[T + 1][tx] = x[i + n];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (border || z == 0 || z == n - 1)
      y[i] = here;
    else
      y[i] = 0.4f * here + 0.1f * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] + below + above);
    barrier(CLK_LOCAL_MEM_FENCE);
    below = here;
    here = above;
    i += plane;
    if (z + 2 < n) above = x[i + plane];
  }
}
kernel void convolution(global const float* image, constant float* weights, global float* result, int width, int height) {
  local float tile[T + F - 1][T + F - 1];
  int x = get_local_id(0), y = get_local_id(1), left = get_group_id(0) * T, top = get_group_id(1) * T, pitch = width + F - 1;
  for (int ty = y; ty < T + F - 1; ty += T)
    for (int tx = x; tx < T + F - 1; tx += T) tile[ty][tx] = image[(top + ty) * pitch + left + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int i = 0; i < F; ++i)
    for (int k = 0; k < F; ++k) sum += weights[i * F + k] * tile[y + i][x + k];
  result[(top + y) * width + left + x] = sum;
}
)cl";

}  // namespace

namespace bench {

void run_stencils(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const dim3 threads(kTile, kTile);
  const int width = 4096, height = 4096, n = 256;
  Array<float> x(width * height, spread(-1, 1)), y(width * height);
  const Work once = {.bytes = 8.0 * width * height};  // read and write each element
  const dim3 blocks(width / kTile, height / kTile);
  const OpenCl::Range plane(width, height), local(kTile, kTile);

  const auto five = [&](const Stencils& loops) { loops.five_points(x, y, width, height); };
  suite.run(Case<Stencils>{.name = "stencil-5",
                           .work = once,
                           .outputs = {near(y, 1e-6)},
                           .ours = [&] { five_points<<<blocks, threads>>>(x, y, width, height); },
                           .loops = five,
                           .opencl = [&](OpenCl& cl) { cl.launch("five_points", plane, local, x, y, width, height); }});
  suite.run(Case<Stencils>{
      .name = "stencil-5/shared",
      .trait = "barriers",
      .work = once,
      .outputs = {near(y, 1e-6)},
      .ours = [&] { five_points_shared<<<blocks, threads>>>(x, y, width, height); },
      .loops = five,
      .opencl = [&](OpenCl& cl) { cl.launch("five_points_shared", plane, local, x, y, width, height); }});

  const auto seven = [&](const Stencils& loops) { loops.seven_points(x, y, n); };
  const dim3 bricks(n / 32, n / 4, n / 2), columns(n / kTile, n / kTile);
  suite.run(Case<Stencils>{.name = "stencil-7",
                           .work = once,
                           .outputs = {near(y, 1e-6)},
                           .ours = [&] { seven_points<<<bricks, dim3(32, 4, 2)>>>(x, y, n); },
                           .loops = seven,
                           .opencl = [&](OpenCl& cl) { cl.launch("seven_points", {n, n, n}, {32, 4, 2}, x, y, n); }});
  suite.run(Case<Stencils>{.name = "stencil-7/shared",
                           .trait = "barriers",
                           .work = once,
                           .outputs = {near(y, 1e-6)},
                           .ours = [&] { seven_points_shared<<<columns, threads>>>(x, y, n); },
                           .loops = seven,
                           .opencl = [&](OpenCl& cl) { cl.launch("seven_points_shared", {n, n}, local, x, y, n); }});

  const int side = 1024;
  Array<float> weights(kFilter * kFilter, spread(-0.1f, 0.1f)), result(side * side);
  cudaMemcpyToSymbol(filter_weights, weights, weights.bytes());
  suite.run(Case<Stencils>{
      .name = "convolution-7x7",
      .trait = "barriers",
      .work = {.bytes = 8.0 * side * side, .flops = 2.0 * kFilter * kFilter * side * side},
      .outputs = {near(result, 1e-5)},
      .ours = [&] { convolution<<<dim3(side / kTile, side / kTile), threads>>>(x, result, side, side); },
      .loops = [&](const Stencils& loops) { loops.convolution(x, weights, result, side, side); },
      .opencl = [&](OpenCl& cl) { cl.launch("convolution", {side, side}, local, x, weights, result, side, side); }});
}

}  // namespace bench
