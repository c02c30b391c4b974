#pragma once

// What most of the driver API's tests hold: streams, events, graphs and memory that end by themselves.

#include "driver.h"

struct Stream {
  CUstream stream = nullptr;
  explicit Stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    check::use_context();
    CU_OK(cuStreamCreate(&stream, flags));
  }
  ~Stream() { CU_OK(cuStreamDestroy(stream)); }
  Stream(const Stream&) = delete;
  operator CUstream() const { return stream; }
};

struct Event {
  CUevent event = nullptr;
  explicit Event(unsigned flags = CU_EVENT_DEFAULT) {
    check::use_context();
    CU_OK(cuEventCreate(&event, flags));
  }
  ~Event() { CU_OK(cuEventDestroy(event)); }
  Event(const Event&) = delete;
  operator CUevent() const { return event; }
};

struct Graph {
  CUgraph graph = nullptr;
  Graph() {
    check::use_context();
    CU_OK(cuGraphCreate(&graph, 0));
  }
  ~Graph() { CU_OK(cuGraphDestroy(graph)); }
  Graph(const Graph&) = delete;
  operator CUgraph() const { return graph; }
};

struct Exec {
  CUgraphExec exec = nullptr;
  explicit Exec(CUgraph graph, unsigned long long flags = 0) { CU_OK(cuGraphInstantiate(&exec, graph, flags)); }
  ~Exec() { CU_OK(cuGraphExecDestroy(exec)); }
  Exec(const Exec&) = delete;
  operator CUgraphExec() const { return exec; }
};

/// Device memory, zero at first.
struct Memory {
  CUdeviceptr at = 0;
  explicit Memory(size_t ints) {
    check::use_context();
    CU_OK(cuMemAlloc(&at, ints * 4));
    CU_OK(cuMemsetD32(at, 0, ints));
    CU_OK(cuCtxSynchronize());  // a fill of device memory is asynchronous
  }
  ~Memory() { CU_OK(cuMemFree(at)); }
  Memory(const Memory&) = delete;
  operator CUdeviceptr() const { return at; }
  int value(size_t i = 0) const {
    int result = -1;
    CU_OK(cuMemcpyDtoH(&result, at + 4 * i, 4));
    return result;
  }
};

/// 64 bytes of pinned memory that host and device see, zero at first.
struct Words {
  unsigned* host = nullptr;
  CUdeviceptr device = 0;
  Words() {
    check::use_context();
    CU_OK(cuMemHostAlloc(reinterpret_cast<void**>(&host), 64, CU_MEMHOSTALLOC_DEVICEMAP));
    CU_OK(cuMemHostGetDevicePointer(&device, host, 0));
    std::memset(host, 0, 64);
  }
  ~Words() { CU_OK(cuMemFreeHost(host)); }
  Words(const Words&) = delete;
  void set(int i, unsigned value) { reinterpret_cast<std::atomic<unsigned>*>(host)[i].store(value); }
  void set64(int i, cuuint64_t value) { reinterpret_cast<std::atomic<cuuint64_t>*>(host)[i].store(value); }
  unsigned get(int i) { return reinterpret_cast<std::atomic<unsigned>*>(host)[i].load(); }
};
