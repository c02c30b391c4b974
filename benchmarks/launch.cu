// Launch latency: enqueue alone, enqueue plus synchronise, and the first launch after the device was idle for 10 ms.

#include <cuda_runtime.h>

#include <thread>

#include "measure.h"
#include "opencl.h"

__global__ void empty() {}

namespace {

/// Median seconds an enqueue takes over batches; the wait for completion is not counted.
template <typename Enqueue, typename Finish>
double enqueue_seconds(Enqueue enqueue, Finish finish) {
  constexpr int kBatch = 200;
  std::vector<double> times;
  for (int i = 0; i < 21; ++i) {
    double begin = bench::now();
    for (int k = 0; k < kBatch; ++k) enqueue();
    times.push_back((bench::now() - begin) / kBatch);
    finish();
  }
  std::nth_element(times.begin(), times.begin() + 10, times.end());
  return times[10];
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

}  // namespace

int main() {
  auto enqueue = [] { empty<<<1, 1>>>(); };
  auto finish = [] { (void)cudaDeviceSynchronize(); };
  enqueue();
  finish();
  if (cudaGetLastError() != cudaSuccess) return 1;

  bench::OpenClEmptyKernel opencl;
  auto cl_enqueue = [&] { opencl.enqueue(); };
  auto cl_finish = [&] { opencl.finish(); };
  bool has = opencl.ready();
  if (has) cl_enqueue(), cl_finish();
  bench::report("empty/enqueue", enqueue_seconds(enqueue, finish), 0, {{"pocl", has ? enqueue_seconds(cl_enqueue, cl_finish) : 0}});
  bench::report("empty/sync", sync_seconds(enqueue, finish, 0), 0, {{"pocl", has ? sync_seconds(cl_enqueue, cl_finish, 0) : 0}});
  bench::report("empty/after-idle", sync_seconds(enqueue, finish, 10), 0, {{"pocl", has ? sync_seconds(cl_enqueue, cl_finish, 10) : 0}});
}
