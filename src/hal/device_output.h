#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "base/mutex.h"

namespace cupola::hal {

/// What kernels printed and the host has not seen. Any thread.
class DeviceOutput {
 public:
  /// When the buffer would exceed kBytes, what is in it is written first: nothing is lost.
  void append(std::string_view text);

  /// Writes all to standard output, through the host's stdio, so that the order with the host's own output holds.
  void flush() {
    if (has_text_.load(std::memory_order_acquire)) [[unlikely]]
      write();
  }

 private:
  static constexpr size_t kBytes = 1 << 20;

  void write() EXCLUDES(mutex_);
  void write_out() REQUIRES(mutex_);

  std::atomic<bool> has_text_{false};  ///< changes under the lock
  Mutex mutex_;
  std::string text_ GUARDED_BY(mutex_);
};

}  // namespace cupola::hal
