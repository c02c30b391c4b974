#include "backend/metal/host/kernel_output.h"

#include <algorithm>
#include <cstring>

#include "base/log.h"
#include "hal/printf.h"
#include "image/metal_abi.h"

namespace cupola::metal {
namespace {

using image::metal::OutputHeader;

/// In front of a record's values.
struct RecordHeader {
  uint64_t format, bytes;
};

/// Records are multiples of 8 bytes.
ptrdiff_t record_bytes(const RecordHeader& record) {
  return static_cast<ptrdiff_t>(sizeof record + (record.bytes + 7) / 8 * 8);
}

}  // namespace

Result<KernelOutput> KernelOutput::make(Arena& arena) {
  TRY(ArenaPart part, arena.take(kBytes, alignof(OutputHeader)));
  return KernelOutput(std::move(part));
}

KernelOutput::KernelOutput(ArenaPart part) : part_(std::move(part)) {
  const OutputHeader header{.used = 0, .room = static_cast<uint32_t>(part_.size() - sizeof(OutputHeader)), .unused = 0};
  std::memcpy(part_.address(), &header, sizeof header);
}

void KernelOutput::read(hal::DeviceOutput& output) {
  OutputHeader header;
  std::memcpy(&header, part_.address(), sizeof header);
  if (header.used == 0) return;
  const std::byte* at = part_.address() + sizeof header;
  const std::byte* const end = at + std::min(header.used, header.room);
  std::string text;
  for (RecordHeader record; end - at >= static_cast<ptrdiff_t>(sizeof record); at += record_bytes(record)) {
    std::memcpy(&record, at, sizeof record);
    // A record without a format was asked for and did not fit.
    if (record.format == 0 || record.bytes > kBytes || record_bytes(record) > end - at) break;
    text.clear();
    hal::format_print(text, reinterpret_cast<const char*>(record.format), at + sizeof record);
    output.append(text);
  }
  if (header.used > header.room)
    log::line(log::Topic::Error, "metal: kernels printed {} bytes at once; what did not fit into {} is lost",
              header.used, header.room);
  std::memset(part_.address() + sizeof header, 0, std::min(header.used, header.room));
  header.used = 0;
  std::memcpy(part_.address(), &header, sizeof header);
}

}  // namespace cupola::metal
