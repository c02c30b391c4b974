// Kernels beside what OpenMP does on the same cores, in the same process and on the same data. Today's executor is the
// per-thread reference; these figures are where the SIMD compiler will start from.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdlib>

#include "baselines.h"
#include "measure.h"

namespace {

constexpr int kTile = 16;

__global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

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

__global__ void sum_shuffles(const float* x, double* total, int n) {
  double mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) mine += x[i];
  for (int offset = 16; offset > 0; offset /= 2) mine += __shfl_down_sync(0xffffffffu, mine, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(total, mine);
}

__global__ void n_body(const float4* bodies, float3* forces, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float4 body = bodies[i];
  float3 force = make_float3(0, 0, 0);
  for (int k = 0; k < n; ++k) {
    float4 other = bodies[k];
    float dx = other.x - body.x, dy = other.y - body.y, dz = other.z - body.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float weight = other.w * inverse * inverse * inverse;
    force.x += dx * weight;
    force.y += dy * weight;
    force.z += dz * weight;
  }
  forces[i] = force;
}

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

template <typename T>
T* allocate(size_t count) {
  T* data = nullptr;
  if (cudaMallocManaged(&data, count * sizeof(T)) != cudaSuccess) std::exit(1);
  for (size_t i = 0; i < count * sizeof(T) / 4; ++i) reinterpret_cast<float*>(data)[i] = 0.25f * (i % 13);
  return data;
}

template <typename F>
double timed(F launch) {
  return bench::median_seconds([&] {
    launch();
    if (cudaDeviceSynchronize() != cudaSuccess) std::exit(1);
  });
}

}  // namespace

int main() {
  const int n = 1 << 24;
  float *x = allocate<float>(n), *y = allocate<float>(n);
  double copy = bench::median_seconds([&] { omp_copy(x, y, n); });
  bench::report("saxpy", timed([&] { saxpy<<<n / 256, 256>>>(1e-3f, x, y, n); }), copy * 1.5,
                {{"omp", bench::median_seconds([&] { omp_saxpy(1e-3f, x, y, n); })}});

  double* total = allocate<double>(1);
  volatile double kept = 0;
  bench::report("sum/shuffles", timed([&] { sum_shuffles<<<64, 256>>>(x, total, n); }), copy / 2,
                {{"omp", bench::median_seconds([&] { kept = omp_sum(x, n); })}});

  const int m = 256;
  bench::report("sgemm/256", timed([&] { sgemm<<<dim3(m / kTile, m / kTile), dim3(kTile, kTile)>>>(x, x + m * m, y, m); }), 0,
                {{"omp", bench::median_seconds([&] { omp_sgemm(x, x + m * m, y, m); })}});

  const int bodies = 4096;
  bench::report("n-body/4096", timed([&] { n_body<<<bodies / 128, 128>>>(reinterpret_cast<float4*>(x), reinterpret_cast<float3*>(y), bodies); }), 0,
                {{"omp", bench::median_seconds([&] { omp_n_body(x, y, bodies); })}});

  int* counts = allocate<int>(1024 * 1024);
  bench::report("mandelbrot/1024", timed([&] { mandelbrot<<<dim3(64, 64), dim3(16, 16)>>>(counts, 1024, 1024, 256); }), 0,
                {{"omp", bench::median_seconds([&] { omp_mandelbrot(counts, 1024, 1024, 256); })}});
}
