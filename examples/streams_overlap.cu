// Runs four independent jobs first in one stream, then in four, and prints how much of the work overlapped. The results
// must be the same either way.

#include <vector>

#include "example.h"

constexpr int kJobs = 4, kCount = 1 << 15, kRounds = 20000;

__global__ void churn(unsigned* values, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned x = values[i];
  for (int round = 0; round < rounds; ++round) x = x * 1664525u + 1013904223u;
  values[i] = x;
}

/// Copies in, computes and copies out every job, job j in streams[j % streams.size()]; seconds by events.
double run(std::vector<cudaStream_t>& streams, unsigned* device, unsigned* host) {
  cudaEvent_t begin, end;
  CHECK_CUDA(cudaEventCreate(&begin));
  CHECK_CUDA(cudaEventCreate(&end));
  CHECK_CUDA(cudaEventRecord(begin));
  for (int job = 0; job < kJobs; ++job) {
    cudaStream_t stream = streams[job % streams.size()];
    unsigned *mine = device + job * kCount, *source = host + job * kCount;
    CHECK_CUDA(cudaMemcpyAsync(mine, source, kCount * sizeof(unsigned), cudaMemcpyHostToDevice, stream));
    churn<<<1, 256, 0, stream>>>(mine, kRounds);  // one block: one job alone cannot fill the device
    CHECK_CUDA(cudaMemcpyAsync(source, mine, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost, stream));
  }
  CHECK_CUDA(cudaEventRecord(end));
  CHECK_CUDA(cudaEventSynchronize(end));
  float milliseconds = 0;
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, begin, end));
  CHECK_CUDA(cudaEventDestroy(begin));
  CHECK_CUDA(cudaEventDestroy(end));
  return milliseconds / 1000;
}

int main() {
  unsigned *device, *host;
  const size_t total = kJobs * kCount;
  CHECK_CUDA(cudaMalloc(&device, total * sizeof(unsigned)));
  CHECK_CUDA(cudaMallocHost(&host, total * sizeof(unsigned)));
  std::vector<cudaStream_t> streams(kJobs);
  for (cudaStream_t& stream : streams) CHECK_CUDA(cudaStreamCreate(&stream));
  std::vector<cudaStream_t> one = {streams[0]};

  std::vector<unsigned> expected(total);
  for (size_t i = 0; i < total; ++i) {
    unsigned x = static_cast<unsigned>(i);
    if (i % kCount < 256)
      for (int round = 0; round < 3 * kRounds; ++round) x = x * 1664525u + 1013904223u;
    expected[i] = x;
    host[i] = static_cast<unsigned>(i);
  }
  run(one, device, host);  // the first run compiles
  double in_turn = run(one, device, host);
  double together = run(streams, device, host);
  bool right = true;
  for (size_t i = 0; i < total; ++i) right &= host[i] == expected[i];
  std::printf("one stream %.2f ms, four streams %.2f ms: overlap %.2fx\n", in_turn * 1e3, together * 1e3,
              in_turn / together);
  for (cudaStream_t stream : streams) CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_CUDA(cudaFree(device));
  CHECK_CUDA(cudaFreeHost(host));
  return verdict("four jobs in four streams", right);
}
