#include "hal/device_output.h"

#include <stdio.h>

namespace cupola::hal {

void DeviceOutput::append(std::string_view text) {
  Lock lock(mutex_);
  if (text_.size() + text.size() > kBytes) write_out();
  text_.append(text);
  has_text_.store(!text_.empty(), std::memory_order_release);
}

void DeviceOutput::write() {
  Lock lock(mutex_);
  write_out();
}

void DeviceOutput::write_out() {
  if (text_.empty()) return;
  fwrite(text_.data(), 1, text_.size(), stdout);
  fflush(stdout);
  text_.clear();
  has_text_.store(false, std::memory_order_release);
}

}  // namespace cupola::hal
