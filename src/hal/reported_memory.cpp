#include "hal/reported_memory.h"

#include "base/byte_count.h"
#include "base/log.h"
#include "base/settings.h"

namespace cupola::hal {

uint64_t reported_memory(uint64_t whole) {
  const uint64_t share = whole / static_cast<uint64_t>(settings().device_count);
  if (settings().memory.empty()) return share;
  const Result<uint64_t> asked = parse_bytes(settings().memory);
  if (asked) return *asked;
  log::line(log::Topic::Error, "CUPOLA_MEMORY: {}; using {} bytes", asked.error().message, share);
  return share;
}

}  // namespace cupola::hal
