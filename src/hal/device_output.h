#pragma once

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
  void flush();

 private:
  static constexpr size_t kBytes = 1 << 20;

  void write_out() REQUIRES(mutex_);

  Mutex mutex_;
  std::string text_ GUARDED_BY(mutex_);
};

}  // namespace cupola::hal
