// Layers of a neural network, as those who train them write them: a block for each row.

#include "layers.h"

#include "suite.h"

namespace {

using bench::kEpsilon;
using bench::kGelu;
constexpr int kThreads = 256, kWarps = kThreads / 32;

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/// `value` of all threads of the block, reduced; every thread gets the result.
template <typename Reduce>
__device__ float block_reduce(float value, float neutral, Reduce reduce) {
  __shared__ float warps[kWarps];
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2) value = reduce(value, __shfl_xor_sync(0xffffffffu, value, offset));
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  value = lane < kWarps ? warps[lane] : neutral;
  for (int offset = 16; offset > 0; offset /= 2) value = reduce(value, __shfl_xor_sync(0xffffffffu, value, offset));
  __syncthreads();
  return value;
}

__global__ void softmax(const float* x, float* y, int columns) {
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;
  float most = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) most = fmaxf(most, in[i]);
  most = block_reduce(most, -INFINITY, Max());
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    float e = expf(in[i] - most);
    out[i] = e;
    sum += e;
  }
  float scale = 1 / block_reduce(sum, 0, Sum());
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] *= scale;
}

__global__ void layer_norm(const float* x, const float* weight, const float* bias, float* y, int columns) {
  const float* in = x + blockIdx.x * columns;
  float* out = y + blockIdx.x * columns;
  float sum = 0, squares = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += in[i];
  float mean = block_reduce(sum, 0, Sum()) / columns;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) squares += (in[i] - mean) * (in[i] - mean);
  float scale = rsqrtf(block_reduce(squares, 0, Sum()) / columns + kEpsilon);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = (in[i] - mean) * scale * weight[i] + bias[i];
}

__global__ void gelu(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  y[i] = 0.5f * v * (1 + tanhf(kGelu * (v + 0.044715f * v * v * v)));
}

constexpr const char* kOpenCl = R"cl(
float reduce_sum(local float* parts, float value) {
  int t = get_local_id(0);
  parts[t] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (t < width) parts[t] += parts[t + width];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  value = parts[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return value;
}
float reduce_max(local float* parts, float value) {
  int t = get_local_id(0);
  parts[t] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int width = get_local_size(0) / 2; width > 0; width /= 2) {
    if (t < width) parts[t] = fmax(parts[t], parts[t + width]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  value = parts[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  return value;
}
kernel void softmax(global const float* x, global float* y, int columns) {
  local float parts[256];
  int t = get_local_id(0), threads = get_local_size(0), begin = get_group_id(0) * columns;
  float most = -INFINITY, sum = 0;
  for (int i = t; i < columns; i += threads) most = fmax(most, x[begin + i]);
  most = reduce_max(parts, most);
  for (int i = t; i < columns; i += threads) {
    float e = exp(x[begin + i] - most);
    y[begin + i] = e;
    sum += e;
  }
  float scale = 1 / reduce_sum(parts, sum);
  for (int i = t; i < columns; i += threads) y[begin + i] *= scale;
}
kernel void layer_norm(global const float* x, global const float* weight, global const float* bias, global float* y, int columns) {
  local float parts[256];
  int t = get_local_id(0), threads = get_local_size(0), begin = get_group_id(0) * columns;
  float sum = 0, squares = 0;
  for (int i = t; i < columns; i += threads) sum += x[begin + i];
  float mean = reduce_sum(parts, sum) / columns;
  for (int i = t; i < columns; i += threads) squares += (x[begin + i] - mean) * (x[begin + i] - mean);
  float scale = rsqrt(reduce_sum(parts, squares) / columns + 1e-5f);
  for (int i = t; i < columns; i += threads) y[begin + i] = (x[begin + i] - mean) * scale * weight[i] + bias[i];
}
kernel void gelu(global const float* x, global float* y, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float v = x[i];
  y[i] = 0.5f * v * (1 + tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
}
)cl";

}  // namespace

namespace bench {

void run_layers(Suite& suite) {
  suite.use_opencl(kOpenCl);
  const int rows = 4096, columns = 2048, n = rows * columns;
  const size_t threads = kThreads;
  Array<float> x(n, spread(-4, 4)), y(n), weight(columns, spread(0.5f, 2)), bias(columns, spread(-1, 1));
  const Work once = {.bytes = 8.0 * n};
  suite.run(Case<Layers>{.name = "softmax",
                         .trait = "shuffles",
                         .work = once,
                         .outputs = {near(y, 1e-5, 0.1)},
                         .ours = [&] { softmax<<<rows, kThreads>>>(x, y, columns); },
                         .loops = [&](const Layers& loops) { loops.softmax(x, y, rows, columns); },
                         .opencl = [&](OpenCl& cl) { cl.launch("softmax", rows * threads, threads, x, y, columns); }});
  suite.run(Case<Layers>{
      .name = "layer-norm",
      .trait = "shuffles",
      .work = once,
      .outputs = {near(y, 1e-4)},
      .ours = [&] { layer_norm<<<rows, kThreads>>>(x, weight, bias, y, columns); },
      .loops = [&](const Layers& loops) { loops.layer_norm(x, weight, bias, y, rows, columns); },
      .opencl = [&](OpenCl& cl) { cl.launch("layer_norm", rows * threads, threads, x, weight, bias, y, columns); }});
  suite.run(Case<Layers>{.name = "gelu",
                         .work = once,
                         .outputs = {near(y, 1e-5)},
                         .ours = [&] { gelu<<<n / kThreads, kThreads>>>(x, y, n); },
                         .loops = [&](const Layers& loops) { loops.gelu(x, y, n); },
                         .opencl = [&](OpenCl& cl) { cl.launch("gelu", n, threads, x, y, n); }});
}

}  // namespace bench
