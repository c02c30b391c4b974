#pragma once

// What the tests of graphs and of stream capture share: streams, events and memory that end by themselves.

#include "api.h"
#include "order_kernels.h"

struct Stream {
  cudaStream_t stream = nullptr;
  explicit Stream(unsigned flags = cudaStreamNonBlocking) { CUDA_OK(cudaStreamCreateWithFlags(&stream, flags)); }
  ~Stream() { CUDA_OK(cudaStreamDestroy(stream)); }
  Stream(const Stream&) = delete;
  operator cudaStream_t() const { return stream; }
};

struct Event {
  cudaEvent_t event = nullptr;
  Event() { CUDA_OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
  ~Event() { CUDA_OK(cudaEventDestroy(event)); }
  Event(const Event&) = delete;
  operator cudaEvent_t() const { return event; }
};

struct Device {
  int* at = nullptr;
  explicit Device(size_t ints) {
    CUDA_OK(cudaMalloc(&at, ints * sizeof(int)));
    CUDA_OK(cudaMemset(at, 0, ints * sizeof(int)));
    CUDA_OK(cudaStreamSynchronize(nullptr));  // a fill of device memory is asynchronous
  }
  ~Device() { CUDA_OK(cudaFree(at)); }
  Device(const Device&) = delete;
  operator int*() const { return at; }
  int value(size_t i = 0) const {
    int result = -1;
    CUDA_OK(cudaMemcpy(&result, at + i, sizeof result, cudaMemcpyDeviceToHost));
    return result;
  }
};

inline void launch(cudaStream_t stream, void (*kernel)(int*, int), int* at, int value) {
  (void)cudaGetLastError();  // of a refusal before
  kernel<<<1, 1, 0, stream>>>(at, value);
  CUDA_OK(cudaGetLastError());
}

inline size_t node_count(cudaGraph_t graph) {
  size_t count = 0;
  CUDA_OK(cudaGraphGetNodes(graph, nullptr, &count));
  return count;
}

inline void increment(void* counter) {
  ++*static_cast<int*>(counter);
}
