#pragma once

#include <cstdint>
#include <unordered_map>

#include "base/mutex.h"

namespace cupola::cpu {

/// The heap behind malloc and free in kernels. Any thread. What kernels leave behind lives as long as the device.
class DeviceHeap {
 public:
  explicit DeviceHeap(uint64_t limit_bytes) : limit_(limit_bytes) {}
  ~DeviceHeap();

  /// 16-byte aligned; null when the limit or the machine's memory is reached, and for 0 bytes.
  void* allocate(uint64_t bytes);

  /// False when `pointer` is neither null nor live.
  bool release(void* pointer);

 private:
  const uint64_t limit_;
  Mutex mutex_;
  uint64_t used_ GUARDED_BY(mutex_) = 0;
  std::unordered_map<void*, uint64_t> live_ GUARDED_BY(mutex_);
};

}  // namespace cupola::cpu
