#include "hal/device_output.h"

#include <stdio.h>

namespace cupola::hal {

void DeviceOutput::append(std::string_view text) {
  Lock lock(mutex_);
  if (text_.size() + text.size() > kBytes) write_out();
  text_.append(text);
}

void DeviceOutput::flush() {
  Lock lock(mutex_);
  write_out();
}

void DeviceOutput::write_out() {
  if (text_.empty()) return;
  fwrite(text_.data(), 1, text_.size(), stdout);
  fflush(stdout);
  text_.clear();
}

}  // namespace cupola::hal
