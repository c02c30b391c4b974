#pragma once

// Values in memory that the driver API's tests let streams and nodes of graphs wait for and write.

#include "driver_objects.h"

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
  cuuint64_t get64(int i) { return reinterpret_cast<std::atomic<cuuint64_t>*>(host)[i].load(); }
};

inline CUstreamBatchMemOpParams wait_for(CUdeviceptr at, unsigned value, unsigned flags = CU_STREAM_WAIT_VALUE_EQ) {
  CUstreamBatchMemOpParams op = {};
  op.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  op.waitValue.address = at;
  op.waitValue.value = value;
  op.waitValue.flags = flags;
  return op;
}

inline CUstreamBatchMemOpParams store64(CUdeviceptr at, cuuint64_t value) {
  CUstreamBatchMemOpParams op = {};
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  op.writeValue.address = at;
  op.writeValue.value64 = value;
  return op;
}

inline CUstreamBatchMemOpParams store(CUdeviceptr at, unsigned value) {
  CUstreamBatchMemOpParams op = store64(at, value);
  op.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  return op;
}
