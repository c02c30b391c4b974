#pragma once

#include "backend/metal/metallib/container.h"

// The first 88 bytes of a container.

namespace cupola::metallib {

inline constexpr uint64_t kHeaderBytes = 88, kFileSizeAt = 16;
inline constexpr TagName kMagic = "MTLB";

/// The tags of the header extension whose value is the offset and size of a section: dynamic header, exported
/// variables, imported symbols, sources (with and without their folder), reflection, pipeline scripts.
inline constexpr TagName kSectionTags[] = {"HDYN", "VLST", "ILST", "HSRC", "HSRD", "RLST", "SLST"};
bool names_section(TagName name);

/// A part of the file.
struct Range {
  uint64_t offset = 0, size = 0;
};

struct Ranges {
  uint64_t file_size = 0;
  Range functions;  ///< without the four bytes of their number
  Range public_metadata, private_metadata, modules;
};

Result<Header> read_header(Bytes file, Ranges& ranges);
void write_header(ByteWriter& out, const Header& header, const Ranges& ranges);

}  // namespace cupola::metallib
