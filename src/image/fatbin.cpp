#include "image/fatbin.h"

#include <cstring>
#include <limits>

// Layout and offsets: docs/fatbin.md.

namespace cupola::image {
namespace {

constexpr uint32_t kMagic = 0xBA55ED50;
constexpr uint64_t kHeaderBytes = 16;
constexpr uint64_t kEntryHeaderBytes = 64;

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void store(std::vector<std::byte>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

/// The entry at `offset` of the fatbin `all`; moves the offset to the next one.
Result<FatbinEntry> read_entry(std::span<const std::byte> all, uint64_t& offset) {
  const uint64_t left = all.size() - offset;
  if (left < kEntryHeaderBytes)
    return fail(ErrorCode::InvalidImage, "fatbin: {} bytes at {} are too few for an entry's header", left, offset);
  const std::byte* header = all.data() + offset;
  const uint64_t header_bytes = load<uint32_t>(header + 4);
  const uint64_t padded = load<uint64_t>(header + 8);
  if (header_bytes < kEntryHeaderBytes || header_bytes > left || padded > left - header_bytes)
    return fail(ErrorCode::InvalidImage,
                "fatbin: the entry at {} has a header of {} and a payload of {} bytes; {} are left", offset,
                header_bytes, padded, left);
  FatbinEntry entry;
  entry.kind = static_cast<FatbinKind>(load<uint16_t>(header));
  entry.sm = load<uint32_t>(header + 28);
  entry.flags = load<uint64_t>(header + 40);
  entry.uncompressed_size = entry.is_compressed() ? load<uint64_t>(header + 56) : 0;
  const uint64_t exact = load<uint32_t>(header + 16);
  if (exact > padded || (entry.is_compressed() && exact == 0))
    return fail(ErrorCode::InvalidImage, "fatbin: the entry at {} stores {} bytes in a payload of {}", offset, exact,
                padded);
  entry.payload = all.subspan(offset + header_bytes, exact ? exact : padded);
  offset += header_bytes + padded;
  return entry;
}

}  // namespace

Result<std::vector<FatbinEntry>> read_fatbin(const std::byte* bytes, size_t limit) {
  if (limit < kHeaderBytes) return fail(ErrorCode::InvalidImage, "fatbin: {} bytes are too few for a header", limit);
  if (const uint32_t magic = load<uint32_t>(bytes); magic != kMagic)
    return fail(ErrorCode::InvalidImage, "fatbin: magic at 0 is {:#x}, not {:#x}", magic, kMagic);
  const uint64_t version = load<uint16_t>(bytes + 4);
  const uint64_t header_bytes = load<uint16_t>(bytes + 6);
  const uint64_t size = load<uint64_t>(bytes + 8);
  if (version != 1) return fail(ErrorCode::InvalidImage, "fatbin: version {} at 4; this build reads 1", version);
  if (header_bytes < kHeaderBytes || header_bytes > limit || size > limit - header_bytes)
    return fail(ErrorCode::InvalidImage, "fatbin: header of {} and entries of {} bytes, but only {} are there",
                header_bytes, size, limit);
  const std::span<const std::byte> all(bytes, header_bytes + size);
  std::vector<FatbinEntry> entries;
  for (uint64_t offset = header_bytes; offset < all.size();) {
    TRY(FatbinEntry entry, read_entry(all, offset));
    entries.push_back(entry);
  }
  return entries;
}

Result<std::vector<std::byte>> write_fatbin(std::span<const FatbinEntry> entries) {
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  for (const FatbinEntry& entry : entries)
    if (entry.payload.size() > kMost)
      return fail(ErrorCode::InvalidImage, "fatbin: a payload of {} bytes; an entry has room for {}: divide the code",
                  entry.payload.size(), kMost);
  std::vector<std::byte> bytes(kHeaderBytes);
  for (const FatbinEntry& entry : entries) {
    const size_t at = bytes.size();
    const uint64_t padded = (entry.payload.size() + 7) / 8 * 8;
    bytes.resize(at + kEntryHeaderBytes + padded);
    store(bytes, at, static_cast<uint16_t>(entry.kind));
    store(bytes, at + 2, uint16_t{0x101});
    store(bytes, at + 4, static_cast<uint32_t>(kEntryHeaderBytes));
    store(bytes, at + 8, padded);
    store(bytes, at + 16, static_cast<uint32_t>(entry.payload.size()));
    store(bytes, at + 28, entry.sm);
    store(bytes, at + 40, (entry.flags & ~(kFlagLz4 | kFlagZstd)) | kFlag64Bit | kFlagLinux);
    if (!entry.payload.empty())
      std::memcpy(bytes.data() + at + kEntryHeaderBytes, entry.payload.data(), entry.payload.size());
  }
  store(bytes, 0, kMagic);
  store(bytes, 4, uint16_t{1});
  store(bytes, 6, static_cast<uint16_t>(kHeaderBytes));
  store(bytes, 8, static_cast<uint64_t>(bytes.size() - kHeaderBytes));
  return bytes;
}

}  // namespace cupola::image
