#include <lz4.h>
#include <zstd.h>

#include <limits>

#include "image/fatbin.h"

// Payloads of fat binaries: plain, an LZ4 block or a zstd frame. docs/fatbin.md has the flags.

namespace cupola::image {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 32;  // bytes
// The most that a byte can unpack to (LZ4: a run of 255; zstd: a block of 128 KiB from 4 bytes), so that a damaged
// header does not make us allocate what no payload could fill.
constexpr uint64_t kLz4Ratio = 255, kZstdRatio = 40000;

}  // namespace

Result<std::vector<std::byte>> contents(const FatbinEntry& entry) {
  if (!entry.uncompressed_size) return std::vector(entry.payload.begin(), entry.payload.end());
  const uint64_t ratio = entry.flags & kFlagZstd ? kZstdRatio : kLz4Ratio;
  if (entry.uncompressed_size > kLargest || entry.uncompressed_size / ratio > entry.payload.size())
    return fail(ErrorCode::InvalidImage, "fatbin: an entry claims {} bytes when unpacked", entry.uncompressed_size);
  std::vector<std::byte> unpacked(entry.uncompressed_size);
  bool good = false;
  if (entry.flags & kFlagZstd) {
    const size_t size = ZSTD_decompress(unpacked.data(), unpacked.size(), entry.payload.data(), entry.payload.size());
    good = !ZSTD_isError(size) && size == unpacked.size();
  } else if (entry.payload.size() <= std::numeric_limits<int>::max() &&
             unpacked.size() <= std::numeric_limits<int>::max()) {
    const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(entry.payload.data()),
                                         reinterpret_cast<char*>(unpacked.data()),
                                         static_cast<int>(entry.payload.size()), static_cast<int>(unpacked.size()));
    good = size >= 0 && static_cast<size_t>(size) == unpacked.size();
  }
  if (!good)
    return fail(ErrorCode::InvalidImage, "fatbin: a compressed entry of {} bytes does not unpack to {}",
                entry.payload.size(), entry.uncompressed_size);
  return unpacked;
}

}  // namespace cupola::image
