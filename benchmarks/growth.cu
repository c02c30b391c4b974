// What a grid costs by the number of its blocks, from 1,000 to a million: kernels that compute, that meet and that
// diverge. What they touch stays in the caches, so that a block costs the same in a grid of any size.

#include <cuda_runtime.h>

#include <cmath>

#include "measure.h"

namespace {

constexpr int kThreads = 256, kWords = 1 << 12;

__device__ unsigned next(unsigned value) {
  return value * 1664525 + 1013904223;
}
__device__ int thread_number() {
  return static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x) % kWords;
}

__global__ void compute(unsigned* words) {
  unsigned value = blockIdx.x ^ threadIdx.x;
  for (int turn = 0; turn < 48; ++turn) value = next(value);
  if (value == 0) words[thread_number()] = value;
}

__global__ void meet(unsigned* words) {
  __shared__ unsigned sums[kThreads];
  unsigned value = next(blockIdx.x ^ threadIdx.x);
  for (int width = kThreads / 2; width > 0; width /= 2) {
    sums[threadIdx.x] = value;
    __syncthreads();
    value = next(value + sums[threadIdx.x ^ width]);
    __syncthreads();
  }
  if (value == 0) words[thread_number()] = value;
}

__global__ void diverge(unsigned* words) {
  unsigned value = next(blockIdx.x ^ threadIdx.x);
  while ((value >> 30) != 0) value = next(value ^ value >> 13);
  if (value == 0) words[thread_number()] = value;
}

struct Case {
  const char* name;
  void (*kernel)(unsigned*);
};

/// Medians of `repeats` runs of each of ten grids. False, and a line on standard error: something failed.
bool report(const Case& one, unsigned* words, int repeats) {
  constexpr int kGrids = 10;
  constexpr double kFewest = 1e3, kMost = 1e6;
  for (int i = 0; i < kGrids; ++i) {
    const int blocks = static_cast<int>(std::lround(kFewest * std::pow(kMost / kFewest, i / (kGrids - 1.0))));
    const double seconds = bench::median_seconds(
        [&] {
          one.kernel<<<blocks, kThreads>>>(words);
          (void)cudaDeviceSynchronize();
        },
        repeats);
    if (const cudaError_t error = cudaGetLastError(); error != cudaSuccess) {
      std::fprintf(stderr, "growth: %s: %s\n", one.name, cudaGetErrorString(error));
      return false;
    }
    std::string details = ", \"blocks\": " + std::to_string(blocks) + ", \"kernel\": \"" + one.name + "\"";
    bench::report(std::string(one.name) + "/" + std::to_string(blocks), seconds, 0, {}, details);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const int repeats = argc > 1 ? std::atoi(argv[1]) : 11;
  unsigned* words = nullptr;
  if (const cudaError_t error = cudaMalloc(&words, kWords * sizeof *words); error != cudaSuccess) {
    std::fprintf(stderr, "growth: %s\n", cudaGetErrorString(error));
    return 1;
  }
  for (const Case& one : {Case{"compute", compute}, {"meet", meet}, {"diverge", diverge}})
    if (!report(one, words, repeats)) return 1;
  return 0;
}
