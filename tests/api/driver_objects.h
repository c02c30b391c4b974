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
