#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

#include "image/fatbin.h"

// Payloads of fat binaries: plain, an LZ4 block or a zstd frame. docs/fatbin.md has the flags.
//
// An entry's header says how much it unpacks to, and so does a zstd frame; neither is believed. Room is made as bytes
// come out, at most twice what they need, so that a small file with a forged size takes no more memory than its true
// contents.

namespace cupola::image {
namespace {

constexpr uint64_t kLargest = uint64_t{1} << 32;    // bytes
constexpr uint64_t kLz4Ratio = 255;                 // the most that a byte of an LZ4 block can unpack to
constexpr uint64_t kFirstRoom = uint64_t{1} << 16;  // bytes
// zstd keeps a window of what came out, of a size that the frame asks for: 8 MiB is what every decoder must allow, 128
// MiB what the library does. In between it has to be in proportion to the payload.
constexpr uint64_t kLeastWindow = uint64_t{1} << 23, kGreatestWindow = uint64_t{1} << 27, kWindowRatio = 256;

/// The next size of the room for `wanted` bytes of which `have` came out.
uint64_t next_room(uint64_t have, uint64_t payload, uint64_t wanted) {
  return std::min(wanted, std::max({2 * have, 4 * payload, kFirstRoom}));
}

/// The block's contents, if they are `wanted` bytes.
bool unpack_lz4(std::span<const std::byte> payload, uint64_t wanted, std::vector<std::byte>& into) {
  constexpr uint64_t kMost = std::numeric_limits<int>::max();
  if (payload.size() > kMost || wanted > kMost || wanted / kLz4Ratio > payload.size()) return false;
  const char* from = reinterpret_cast<const char*>(payload.data());
  const int from_size = static_cast<int>(payload.size());
  while (into.size() < wanted) {
    into.resize(next_room(into.size(), payload.size(), wanted));
    char* to = reinterpret_cast<char*>(into.data());
    const int room = static_cast<int>(into.size());
    const int size = into.size() == wanted ? LZ4_decompress_safe(from, to, from_size, room)
                                           : LZ4_decompress_safe_partial(from, to, from_size, room, room);
    if (size != room) return false;
  }
  return true;
}

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

/// The frames' contents, if they are `wanted` bytes.
bool unpack_zstd(std::span<const std::byte> payload, uint64_t wanted, std::vector<std::byte>& into) {
  const unsigned long long claimed = ZSTD_getFrameContentSize(payload.data(), payload.size());
  if (claimed == ZSTD_CONTENTSIZE_ERROR || (claimed != ZSTD_CONTENTSIZE_UNKNOWN && claimed > wanted)) return false;
  const std::unique_ptr<ZSTD_DCtx, FreeContext> context(ZSTD_createDCtx());
  const uint64_t window = std::clamp(std::bit_ceil(kWindowRatio * payload.size()), kLeastWindow, kGreatestWindow);
  if (!context || ZSTD_isError(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, std::countr_zero(window))))
    return false;
  ZSTD_inBuffer in{payload.data(), payload.size(), 0};
  ZSTD_outBuffer out{nullptr, 0, 0};
  while (true) {
    if (out.pos == out.size && out.size < wanted) {
      into.resize(next_room(out.size, payload.size(), wanted));
      out.dst = into.data(), out.size = into.size();
    }
    const size_t in_before = in.pos, out_before = out.pos;
    const size_t missing = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(missing)) return false;
    if (missing == 0 && in.pos == in.size) return out.pos == wanted;
    const bool advances = in.pos != in_before || out.pos != out_before;
    if (!advances && (out.pos < out.size || out.size == wanted)) return false;  // cut off, or more than was said
  }
}

}  // namespace

Result<std::vector<std::byte>> contents(const FatbinEntry& entry) {
  if (!entry.is_compressed()) return std::vector(entry.payload.begin(), entry.payload.end());
  if (entry.uncompressed_size == 0 || entry.uncompressed_size > kLargest)
    return fail(ErrorCode::InvalidImage, "fatbin: an entry claims {} bytes when unpacked", entry.uncompressed_size);
  std::vector<std::byte> unpacked;
  const auto unpack = entry.flags & kFlagZstd ? unpack_zstd : unpack_lz4;
  if (!unpack(entry.payload, entry.uncompressed_size, unpacked))
    return fail(ErrorCode::InvalidImage, "fatbin: a compressed entry of {} bytes does not unpack to {}",
                entry.payload.size(), entry.uncompressed_size);
  return unpacked;
}

}  // namespace cupola::image
