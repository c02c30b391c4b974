#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

// Fat binaries. The outer format is CUDA's (wrapper, header, entries; facts in docs/fatbin.md), with one kind of our
// own: kir. NVIDIA's tools never see it; other readers skip kinds they do not know.

namespace cupola::image {

enum class FatbinKind : uint16_t { Ptx = 1, Elf = 2, LtoIr = 8, Kir = 0x4375, KernelImage = 0x4376 };

/// Bits of FatbinEntry::flags.
inline constexpr uint64_t kFlag64Bit = 0x1, kFlagLinux = 0x10, kFlagLz4 = 0x2000, kFlagZstd = 0x8000;

/// What devices that run kir report, as FatbinEntry::sm.
inline constexpr uint32_t kArchitecture = 89;

struct FatbinEntry {
  FatbinKind kind;
  uint32_t sm;  ///< 89 for sm_89
  uint64_t flags;
  std::span<const std::byte> payload;  ///< as stored, still compressed if flags say so
  uint64_t uncompressed_size;          ///< 0 when payload is not compressed

  bool is_compressed() const { return flags & (kFlagLz4 | kFlagZstd); }
};

/// Reads a fatbin of unknown length, whose header says how long it is; `limit` bytes are readable at most (SIZE_MAX
/// when not known). Errors: InvalidImage, naming the offset and what was wrong. The spans point into `bytes`.
Result<std::vector<FatbinEntry>> read_fatbin(const std::byte* bytes, size_t limit);

/// The entry's contents, decompressed. Errors: InvalidImage for what LZ4 or zstd cannot unpack to the size that the
/// entry gives.
Result<std::vector<std::byte>> contents(const FatbinEntry& entry);

/// Makes a fatbin of uncompressed entries. Error: InvalidImage for a payload of 4 GiB or more, whose size has no room.
Result<std::vector<std::byte>> write_fatbin(std::span<const FatbinEntry> entries);

}  // namespace cupola::image
