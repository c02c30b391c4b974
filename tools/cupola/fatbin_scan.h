#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "image/fatbin.h"

namespace cupola::tool {

/// A fat binary in a file.
struct Fatbin {
  uint64_t offset = 0;
  std::vector<image::FatbinEntry> entries;  ///< their payloads point into the bytes that were scanned
};

/// All fat binaries in the bytes of a file, whatever kind of file it is: places where the header's magic stands and the
/// rest can be read. Error: InvalidImage when there is none; where the magic is, but what follows is damaged, with the
/// reason.
Result<std::vector<Fatbin>> find_fatbins(std::span<const std::byte> file);

}  // namespace cupola::tool
