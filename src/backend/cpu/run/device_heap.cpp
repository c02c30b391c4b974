#include "backend/cpu/run/device_heap.h"

#include <cstdlib>

namespace cupola::cpu {

DeviceHeap::~DeviceHeap() {
  for (const auto& [pointer, bytes] : live_) std::free(pointer);
}

void* DeviceHeap::allocate(uint64_t bytes) {
  if (bytes == 0 || bytes > limit_) return nullptr;
  Lock lock(mutex_);
  if (bytes > limit_ - used_) return nullptr;
  void* pointer = nullptr;
  if (posix_memalign(&pointer, 16, bytes) != 0) return nullptr;
  live_.emplace(pointer, bytes);
  used_ += bytes;
  return pointer;
}

bool DeviceHeap::release(void* pointer) {
  if (!pointer) return true;
  Lock lock(mutex_);
  const auto found = live_.find(pointer);
  if (found == live_.end()) return false;
  used_ -= found->second;
  live_.erase(found);
  std::free(pointer);
  return true;
}

}  // namespace cupola::cpu
