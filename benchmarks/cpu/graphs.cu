// What threads read depends on the data: a sparse matrix times a vector, with a thread and with a warp for each row,
// and a breadth-first search with queues.

#include "graphs.h"

#include "suite.h"

namespace {

using bench::hash;
constexpr int kThreads = 256;

__global__ void spmv_scalar(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                            int rows) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}

__global__ void spmv_vector(const int* offsets, const int* columns, const float* values, const float* x, float* y,
                            int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}

__global__ void start(int* distances, int vertices) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < vertices) distances[i] = i == 0 ? 0 : -1;
}

__global__ void visit(const int* offsets, const int* neighbours, int* distances, const int* frontier, int count,
                      int* next, int* found, int level) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  int from = frontier[i];
  for (int e = offsets[from]; e < offsets[from + 1]; ++e) {
    int vertex = neighbours[e];
    if (atomicCAS(&distances[vertex], -1, level) == -1) next[atomicAdd(found, 1)] = vertex;
  }
}

constexpr const char* kOpenCl = R"cl(
kernel void spmv_scalar(global const int* offsets, global const int* columns, global const float* values,
                        global const float* x, global float* y, int rows) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += values[i] * x[columns[i]];
  y[row] = sum;
}
kernel void start(global int* distances, int vertices) {
  int i = get_global_id(0);
  if (i < vertices) distances[i] = i == 0 ? 0 : -1;
}
kernel void visit(global const int* offsets, global const int* neighbours, global int* distances,
                  global const int* frontier, int count, global int* next, global int* found, int level) {
  int i = get_global_id(0);
  if (i >= count) return;
  int from = frontier[i];
  for (int e = offsets[from]; e < offsets[from + 1]; ++e) {
    int vertex = neighbours[e];
    if (atomic_cmpxchg(&distances[vertex], -1, level) == -1) next[atomic_inc(found)] = vertex;
  }
}
)cl";

}  // namespace

namespace bench {

void run_spmv(Suite& suite) {
  const int rows = 1 << 18;
  Array<int> offsets(rows + 1);
  for (int row = 0; row < rows; ++row) offsets[row + 1] = offsets[row] + 8 + hash(row) % 49;
  const int entries = offsets[rows];
  Array<int> columns(entries);
  for (int row = 0; row < rows; ++row)  // a band of 8192 columns about the diagonal
    for (int i = offsets[row]; i < offsets[row + 1]; ++i) columns[i] = (row + rows - 4096 + hash(i) % 8192) % rows;
  Array<float> values(entries, spread(-1, 1)), x(rows, spread(0, 1)), y(rows);
  const Work work = {.bytes = 8.0 * entries + 12.0 * rows};
  const auto loops = [&](const Graphs& loops) { loops.spmv(offsets, columns, values, x, y, rows); };
  suite.run(Case<Graphs>{
      .name = "spmv/scalar",
      .trait = "divergence",
      .work = work,
      .outputs = {near(y, 1e-5, 10)},
      .ours = [&] { spmv_scalar<<<rows / kThreads, kThreads>>>(offsets, columns, values, x, y, rows); },
      .loops = loops,
      .opencl = [&](OpenCl& cl) { cl.launch("spmv_scalar", rows, kThreads, offsets, columns, values, x, y, rows); }});
  suite.run(Case<Graphs>{
      .name = "spmv/vector",
      .trait = "shuffles",
      .work = work,
      .outputs = {near(y, 1e-5, 10)},
      .ours = [&] { spmv_vector<<<rows / (kThreads / 32), kThreads>>>(offsets, columns, values, x, y, rows); },
      .loops = loops});
}

void run_breadth_first(Suite& suite) {
  const int vertices = 1 << 19, degree = 8, edges = vertices * degree;
  Array<int> offsets(vertices + 1, [](size_t i) { return i * degree; });
  Array<int> neighbours(edges, [](size_t i) { return hash(i) % vertices; });
  Array<int> distances(vertices), one(vertices), other(vertices), found(1);
  /// Runs the levels; expand(frontier, count, next, level) visits one.
  const auto search = [&](auto expand) {
    Array<int>*frontier = &one, *next = &other;
    (*frontier)[0] = 0;
    int count = 1;
    for (int level = 1; count > 0; ++level) {
      found[0] = 0;
      expand(*frontier, count, *next, level);
      count = found[0];
      std::swap(frontier, next);
    }
  };
  suite.run(Case<Graphs>{
      .name = "breadth-first",
      .trait = "divergence",
      .work = {.bytes = 4.0 * edges + 16.0 * vertices},
      .outputs = {exact(distances)},
      .ours =
          [&] {
            start<<<vertices / kThreads, kThreads>>>(distances, vertices);
            search([&](const Array<int>& frontier, int count, const Array<int>& next, int level) {
              visit<<<(count + kThreads - 1) / kThreads, kThreads>>>(offsets, neighbours, distances, frontier, count,
                                                                     next, found, level);
              cudaDeviceSynchronize();
            });
          },
      .loops = [&](const Graphs& loops) { loops.breadth_first(offsets, neighbours, distances, one, other, vertices); },
      .opencl =
          [&](OpenCl& cl) {
            cl.launch("start", vertices, kThreads, distances, vertices);
            search([&](const Array<int>& frontier, int count, const Array<int>& next, int level) {
              const size_t groups = (count + kThreads - 1) / kThreads;
              cl.launch("visit", groups * kThreads, kThreads, offsets, neighbours, distances, frontier, count, next,
                        found, level);
              cl.finish();
            });
          }});
}

void run_graphs(Suite& suite) {
  suite.use_opencl(kOpenCl);
  run_spmv(suite);
  run_breadth_first(suite);
}

}  // namespace bench
