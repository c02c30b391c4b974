// Launch latency: enqueue alone, enqueue plus synchronise, and the first launch after the device was idle for 10 ms;
// a graph of kernels in a row beside the same launches one by one; and kernels of some tens of microseconds, each
// waited for and in a row, beside the same blocks in one large grid.

#include <cuda_runtime.h>

#include <thread>

#include "measure.h"
#include "opencl.h"

__global__ void empty() {}
__global__ void set(int* word, int value) {
  *word = value;
}
__global__ void count_on(unsigned* words, int turns) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned value = words[i];
  for (int k = 0; k < turns; ++k) value = value * 1664525 + 1013904223;
  words[i] = value;
}

namespace {

/// False, and a line on standard error, where a call since the last answer failed or something that was enqueued did:
/// what failed was quick, and its time is no result. For after timed regions, which look at nothing themselves.
bool all_succeeded(const char* what) {
  const cudaError_t finished = cudaDeviceSynchronize();
  const cudaError_t last = cudaGetLastError();
  if (finished == cudaSuccess && last == cudaSuccess) return true;
  std::fprintf(stderr, "launch: %s: %s\n", what, cudaGetErrorString(last != cudaSuccess ? last : finished));
  return false;
}

/// Median seconds an enqueue takes over batches, the first left out; the wait for completion is not counted.
template <typename Enqueue, typename Finish>
double enqueue_seconds(Enqueue enqueue, Finish finish) {
  constexpr int kBatch = 200, kWarm = 100, kBatches = 1001;
  std::vector<double> times;
  for (int i = -kWarm; i < kBatches; ++i) {
    double begin = bench::now();
    for (int k = 0; k < kBatch; ++k) enqueue();
    const double each = (bench::now() - begin) / kBatch;
    if (i >= 0) times.push_back(each);
    finish();
  }
  std::nth_element(times.begin(), times.begin() + kBatches / 2, times.end());
  return times[kBatches / 2];
}

template <typename Enqueue, typename Finish>
double sync_seconds(Enqueue enqueue, Finish finish, int idle_ms) {
  std::vector<double> times;
  for (int i = 0; i < (idle_ms ? 21 : 2001); ++i) {
    if (idle_ms) std::this_thread::sleep_for(std::chrono::milliseconds(idle_ms));
    double begin = bench::now();
    enqueue();
    finish();
    times.push_back(bench::now() - begin);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

/// Seconds for kernels in a row, each with parameters, to be enqueued and to finish: as a graph, and one by one. False
/// where something failed, as for the other results.
bool report_graph() {
  constexpr int kKernels = 100;
  int* word = nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  (void)cudaMalloc(&word, sizeof *word);
  (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  const auto launch_all = [&] {
    for (int i = 0; i < kKernels; ++i) set<<<1, 1, 0, stream>>>(word, i);
  };
  (void)cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  launch_all();
  (void)cudaStreamEndCapture(stream, &graph);
  (void)cudaGraphInstantiate(&exec, graph, 0);
  if (!all_succeeded("graph")) return false;
  const auto finish = [&] { (void)cudaStreamSynchronize(stream); };
  const double one_by_one = bench::median_seconds([&] { launch_all(), finish(); }, 201);
  const double together = bench::median_seconds([&] { (void)cudaGraphLaunch(exec, stream), finish(); }, 201);
  if (!all_succeeded("graph/100-kernels")) return false;
  bench::report("graph/100-kernels", together, 0, {{"one-by-one", one_by_one}});
  return true;
}

/// Seconds a kernel whose blocks all cores share, and what its blocks take as a part of a large grid.
bool report_small_kernels() {
  constexpr int kBlocks = 256, kThreads = 256, kTurns = 20, kKernels = 100;
  unsigned* words = nullptr;
  (void)cudaMalloc(&words, sizeof *words * kBlocks * kThreads * kKernels);
  if (!all_succeeded("small")) return false;
  const auto finish = [] { (void)cudaDeviceSynchronize(); };
  const auto launch = [&] { count_on<<<kBlocks, kThreads>>>(words, kTurns); };
  const double limit =
      bench::median_seconds([&] { count_on<<<kBlocks * kKernels, kThreads>>>(words, kTurns), finish(); }, 51) /
      kKernels;
  const double waited_for = bench::median_seconds([&] { launch(), finish(); }, 2001);
  const auto launch_all = [&] {
    for (int i = 0; i < kKernels; ++i) launch();
  };
  const double in_a_row = bench::median_seconds([&] { launch_all(), finish(); }, 51) / kKernels;
  if (!all_succeeded("small/sync and small/in-a-row")) return false;
  bench::report("small/sync", waited_for, 0, {{"large-grid", limit}});
  bench::report("small/in-a-row", in_a_row, 0, {{"large-grid", limit}});
  return true;
}

/// Seconds an empty kernel, beside OpenCL's where there is a driver of it.
bool report_empty() {
  auto enqueue = [] { empty<<<1, 1>>>(); };
  auto finish = [] { (void)cudaDeviceSynchronize(); };
  enqueue();
  finish();
  if (!all_succeeded("first launch")) return false;

  bench::OpenCl opencl;
  opencl.use("__kernel void empty() {}");
  auto cl_enqueue = [&] { opencl.launch("empty", 1, 1); };
  auto cl_finish = [&] { opencl.finish(); };
  bool has = opencl.ready();
  if (has) cl_enqueue(), cl_finish();
  has = has && opencl.error().empty();
  const auto report = [&](const char* name, double seconds, double pocl) {
    if (!all_succeeded(name)) return false;
    bench::report(name, seconds, 0, {{"pocl", opencl.error().empty() ? pocl : 0}});
    return true;
  };
  return report("empty/enqueue", enqueue_seconds(enqueue, finish), has ? enqueue_seconds(cl_enqueue, cl_finish) : 0) &&
         report("empty/sync", sync_seconds(enqueue, finish, 0), has ? sync_seconds(cl_enqueue, cl_finish, 0) : 0) &&
         report("empty/after-idle", sync_seconds(enqueue, finish, 10),
                has ? sync_seconds(cl_enqueue, cl_finish, 10) : 0);
}

}  // namespace

int main() {
  return report_empty() && report_graph() && report_small_kernels() ? 0 : 1;
}
