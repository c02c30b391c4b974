#include "base/wait_word.h"

#include "base/sleep_on_word.h"

namespace cupola {

void WaitWord::raise(uint32_t bits) {
  bits_.fetch_or(bits, std::memory_order_acq_rel);
  wake_one_on(bits_);
}

uint32_t WaitWord::wait(std::optional<uint64_t> nanoseconds) {
  for (;;) {
    if (const uint32_t now = bits()) return now;
    sleep_on(bits_, 0, nanoseconds);
    if (nanoseconds) return bits();  // the time is over, or a signal came: early is as good
  }
}

}  // namespace cupola
