// Products of matrices: in tiles of shared memory, with sixteen results a thread, with a vector, of many small ones,
// and dot products of bytes.

#include "matrices.h"

#include "suite.h"

namespace {

using bench::kSmall;
constexpr int kTile = 16;
constexpr int kBlock = 64, kEach = 4;  // of the register-blocked product: columns a block and a thread

__global__ void sgemm(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < n; k += kTile) {
    tile_a[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
    tile_b[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void sgemm_registers(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kBlock], tile_b[kTile][kBlock];
  int thread = threadIdx.y * kTile + threadIdx.x, top = blockIdx.y * kBlock, left = blockIdx.x * kBlock;
  float sums[kEach][kEach] = {};
  for (int k = 0; k < n; k += kTile) {
    for (int i = thread; i < kTile * kBlock; i += kTile * kTile) {
      tile_a[i % kTile][i / kTile] = a[(top + i / kTile) * n + k + i % kTile];
      tile_b[i / kBlock][i % kBlock] = b[(k + i / kBlock) * n + left + i % kBlock];
    }
    __syncthreads();
    for (int i = 0; i < kTile; ++i) {
      float column[kEach], row[kEach];
      for (int j = 0; j < kEach; ++j) {
        column[j] = tile_a[i][threadIdx.y * kEach + j];
        row[j] = tile_b[i][threadIdx.x * kEach + j];
      }
      for (int y = 0; y < kEach; ++y)
        for (int x = 0; x < kEach; ++x) sums[y][x] += column[y] * row[x];
    }
    __syncthreads();
  }
  for (int y = 0; y < kEach; ++y)
    for (int x = 0; x < kEach; ++x)
      c[(top + threadIdx.y * kEach + y) * n + left + threadIdx.x * kEach + x] = sums[y][x];
}

/// A thread for each row.
__global__ void matrix_vector(const float* a, const float* x, float* y, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += a[row * columns + i] * x[i];
  y[row] = sum;
}

/// A block for each pair of small matrices.
__global__ void small_products(const float* a, const float* b, float* c) {
  __shared__ float left[kSmall][kSmall], right[kSmall][kSmall];
  int i = (blockIdx.x * kSmall + threadIdx.y) * kSmall + threadIdx.x;
  left[threadIdx.y][threadIdx.x] = a[i];
  right[threadIdx.y][threadIdx.x] = b[i];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < kSmall; ++k) sum += left[threadIdx.y][k] * right[k][threadIdx.x];
  c[i] = sum;
}

/// A block for each row; four bytes at a time.
__global__ void int8_dots(const int* a, const int* b, int* sums, int words) {
  __shared__ int warps[32];
  int row = blockIdx.x, sum = 0;
  for (int i = threadIdx.x; i < words; i += blockDim.x) sum = __dp4a(a[row * words + i], b[row * words + i], sum);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) sum += warps[w];
    sums[row] = sum;
  }
}

constexpr const char* kOpenCl = R"cl(
#define T 16
#define B 64
#define E 4
kernel void sgemm(global const float* a, global const float* b, global float* c, int n) {
  local float tile_a[T][T], tile_b[T][T];
  int x = get_local_id(0), y = get_local_id(1), row = get_global_id(1), column = get_global_id(0);
  float sum = 0;
  for (int k = 0; k < n; k += T) {
    tile_a[y][x] = a[row * n + k + x];
    tile_b[y][x] = b[(k + y) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < T; ++i) sum += tile_a[y][i] * tile_b[i][x];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  c[row * n + column] = sum;
}
kernel void sgemm_registers(global const float* a, global const float* b, global float* c, int n) {
  local float tile_a[T][B], tile_b[T][B];
  int tx = get_local_id(0), ty = get_local_id(1), top = get_group_id(1) * B, left = get_group_id(0) * B;
  float sums[E][E];
  for (int y = 0; y < E; ++y)
    for (int x = 0; x < E; ++x) sums[y][x] = 0;
  for (int k = 0; k < n; k += T) {
    for (int i = ty * T + tx; i < T * B; i += T * T) {
      tile_a[i % T][i / T] = a[(top + i / T) * n + k + i % T];
      tile_b[i / B][i % B] = b[(k + i / B) * n + left + i % B];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = 0; i < T; ++i) {
      float column[E], row[E];
      for (int j = 0; j < E; ++j) {
        column[j] = tile_a[i][ty * E + j];
        row[j] = tile_b[i][tx * E + j];
      }
      for (int y = 0; y < E; ++y)
        for (int x = 0; x < E; ++x) sums[y][x] += column[y] * row[x];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int y = 0; y < E; ++y)
    for (int x = 0; x < E; ++x) c[(top + ty * E + y) * n + left + tx * E + x] = sums[y][x];
}
kernel void matrix_vector(global const float* a, global const float* x, global float* y, int columns) {
  int row = get_global_id(0);
  float sum = 0;
  for (int i = 0; i < columns; ++i) sum += a[row * columns + i] * x[i];
  y[row] = sum;
}
kernel void small_products(global const float* a, global const float* b, global float* c) {
  local float left[T][T], right[T][T];
  int x = get_local_id(0), y = get_local_id(1), i = (get_group_id(0) * T + y) * T + x;
  left[y][x] = a[i];
  right[y][x] = b[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  float sum = 0;
  for (int k = 0; k < T; ++k) sum += left[y][k] * right[k][x];
  c[i] = sum;
}
kernel void int8_dots(global const char4* a, global const char4* b, global int* sums, int words) {
  local int parts[256];
  int t = get_local_id(0), row = get_group_id(0), sum = 0;
  for (int i = t; i < words; i += get_local_size(0)) {
    int4 products = convert_int4(a[row * words + i]) * convert_int4(b[row * words + i]);
    sum += products.x + products.y + products.z + products.w;
  }
  parts[t] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (t < width) parts[t] += parts[t + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (t == 0) sums[row] = parts[0];
}
)cl";

}  // namespace

namespace bench {

void run_matrices(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const dim3 threads(kTile, kTile);
  const int n = 768;
  Array<float> a(n * n, spread(-1, 1)), b(n * n, spread(-1, 1)), c(n * n);
  const Work work = {.bytes = 12.0 * n * n, .flops = 2.0 * n * n * n};
  suite.run(Case<Matrices>{.name = "sgemm/tiled",
                           .trait = "barriers",
                           .work = work,
                           .outputs = {near(c, 1e-4)},
                           .ours = [&] { sgemm<<<dim3(n / kTile, n / kTile), threads>>>(a, b, c, n); },
                           .loops = [&](const Matrices& loops) { loops.product(a, b, c, n); },
                           .opencl = [&](OpenCl& cl) { cl.launch("sgemm", {n, n}, {kTile, kTile}, a, b, c, n); }});
  suite.run(Case<Matrices>{
      .name = "sgemm/registers",
      .trait = "barriers",
      .work = work,
      .outputs = {near(c, 1e-4)},
      .ours = [&] { sgemm_registers<<<dim3(n / kBlock, n / kBlock), threads>>>(a, b, c, n); },
      .loops = [&](const Matrices& loops) { loops.product(a, b, c, n); },
      .opencl = [&](OpenCl& cl) { cl.launch("sgemm_registers", {n / kEach, n / kEach}, {kTile, kTile}, a, b, c, n); }});

  const int vectors = 1 << 13, length = 1 << 11, group = 256;
  Array<float> matrix(vectors * length, spread(-1, 1)), vector(length, spread(0, 1)), images(vectors);
  suite.run(Case<Matrices>{
      .name = "matrix-vector",
      .work = {.bytes = 4.0 * vectors * length},
      .outputs = {near(images, 1e-4)},
      .ours = [&] { matrix_vector<<<vectors / group, group>>>(matrix, vector, images, length); },
      .loops = [&](const Matrices& loops) { loops.matrix_vector(matrix, vector, images, vectors, length); },
      .opencl = [&](OpenCl& cl) { cl.launch("matrix_vector", vectors, group, matrix, vector, images, length); }});

  const int count = 1 << 14, elements = count * kSmall * kSmall;
  Array<float> left(elements, spread(-1, 1)), right(elements, spread(0, 1)), products(elements);
  suite.run(Case<Matrices>{.name = "small-products",
                           .trait = "barriers",
                           .work = {.bytes = 12.0 * elements, .flops = 2.0 * kSmall * elements},
                           .outputs = {near(products, 1e-5)},
                           .ours = [&] { small_products<<<count, dim3(kSmall, kSmall)>>>(left, right, products); },
                           .loops = [&](const Matrices& loops) { loops.small_products(left, right, products, count); },
                           .opencl =
                               [&](OpenCl& cl) {
                                 cl.launch("small_products", {count * kSmall, kSmall}, {kSmall, kSmall}, left, right,
                                           products);
                               }});

  const int rows = 4096, columns = 8192, words = columns / 4;
  Array<int8_t> x(rows * columns, hash), y(rows * columns, [](size_t i) { return hash(i + 7) >> 8; });
  Array<int> sums(rows);
  suite.run(
      Case<Matrices>{.name = "int8-dots",
                     .trait = "shuffles",
                     .work = {.bytes = 2.0 * rows * columns},
                     .outputs = {exact(sums)},
                     .ours = [&] { int8_dots<<<rows, group>>>(x.as<int>(), y.as<int>(), sums, words); },
                     .loops = [&](const Matrices& loops) { loops.int8_dots(x, y, sums, rows, columns); },
                     .opencl = [&](OpenCl& cl) { cl.launch("int8_dots", rows * group, group, x, y, sums, words); }});
}

}  // namespace bench
