// Launch latency: enqueue alone, enqueue plus synchronise, and the first launch after the device was idle for 10 ms;
// and a graph of kernels in a row beside the same launches one by one.

#include <cuda_runtime.h>

#include <thread>

#include "measure.h"
#include "opencl.h"

__global__ void empty() {}
__global__ void set(int* word, int value) {
  *word = value;
}

namespace {

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

/// Seconds for kernels in a row, each with parameters, to be enqueued and to finish: as a graph, and one by one.
void report_graph() {
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
  const auto finish = [&] { (void)cudaStreamSynchronize(stream); };
  const double one_by_one = bench::median_seconds([&] { launch_all(), finish(); }, 201);
  const double together = bench::median_seconds([&] { (void)cudaGraphLaunch(exec, stream), finish(); }, 201);
  bench::report("graph/100-kernels", together, 0, {{"one-by-one", one_by_one}});
}

}  // namespace

int main() {
  auto enqueue = [] { empty<<<1, 1>>>(); };
  auto finish = [] { (void)cudaDeviceSynchronize(); };
  enqueue();
  finish();
  if (cudaGetLastError() != cudaSuccess) return 1;

  bench::OpenCl opencl;
  opencl.use("__kernel void empty() {}");
  auto cl_enqueue = [&] { opencl.launch("empty", 1, 1); };
  auto cl_finish = [&] { opencl.finish(); };
  bool has = opencl.ready();
  if (has) cl_enqueue(), cl_finish();
  has = has && opencl.error().empty();
  bench::report("empty/enqueue", enqueue_seconds(enqueue, finish), 0,
                {{"pocl", has ? enqueue_seconds(cl_enqueue, cl_finish) : 0}});
  bench::report("empty/sync", sync_seconds(enqueue, finish, 0), 0,
                {{"pocl", has ? sync_seconds(cl_enqueue, cl_finish, 0) : 0}});
  bench::report("empty/after-idle", sync_seconds(enqueue, finish, 10), 0,
                {{"pocl", has ? sync_seconds(cl_enqueue, cl_finish, 10) : 0}});
  report_graph();
}
