// The transposition of a matrix, straight and through a tile in shared memory.

#include "transposes.h"

#include "suite.h"

namespace {

constexpr int kTile = 32, kRows = 8;  // threads have four rows of a tile each

__global__ void transpose(const float* x, float* y, int n) {
  int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column < n && row < n) y[column * n + row] = x[row * n + column];
}

__global__ void transpose_tiled(const float* x, float* y, int n) {
  __shared__ float tile[kTile][kTile + 1];
  int column = blockIdx.x * kTile + threadIdx.x, row = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) tile[threadIdx.y + i][threadIdx.x] = x[(row + i) * n + column];
  __syncthreads();
  column = blockIdx.y * kTile + threadIdx.x;
  row = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) y[(row + i) * n + column] = tile[threadIdx.x][threadIdx.y + i];
}

constexpr const char* kOpenCl = R"cl(
kernel void transpose(global const float* x, global float* y, int n) {
  int column = get_global_id(0), row = get_global_id(1);
  if (column < n && row < n) y[column * n + row] = x[row * n + column];
}
kernel void transpose_tiled(global const float* x, global float* y, int n) {
  local float tile[32][33];
  int tx = get_local_id(0), ty = get_local_id(1), left = get_group_id(0) * 32, top = get_group_id(1) * 32;
  for (int i = 0; i < 32; i += 8) tile[ty + i][tx] = x[(top + ty + i) * n + left + tx];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int i = 0; i < 32; i += 8) y[(left + ty + i) * n + top + tx] = tile[tx][ty + i];
}
)cl";

}  // namespace

namespace bench {

void run_transposes(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const int n = 4096;
  Array<float> x(n * n, spread(-1, 1)), y(n * n);
  const Work work = {.bytes = 8.0 * n * n};
  const auto loops = [&](const Transposes& loops) { loops.transpose(x, y, n); };
  suite.run(Case<Transposes>{.name = "transpose/naive",
                             .work = work,
                             .outputs = {near(y, 0)},
                             .ours = [&] { transpose<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(x, y, n); },
                             .loops = loops,
                             .opencl = [&](OpenCl& cl) { cl.launch("transpose", {n, n}, {16, 16}, x, y, n); }});
  suite.run(Case<Transposes>{
      .name = "transpose/tiled",
      .trait = "barriers",
      .work = work,
      .outputs = {near(y, 0)},
      .ours = [&] { transpose_tiled<<<dim3(n / kTile, n / kTile), dim3(kTile, kRows)>>>(x, y, n); },
      .loops = loops,
      .opencl = [&](OpenCl& cl) { cl.launch("transpose_tiled", {n, n / 4}, {kTile, kRows}, x, y, n); }});
}

}  // namespace bench
