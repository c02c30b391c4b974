#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "image/kernel_image.h"

namespace llvm {
class MemoryBufferRef;
}

namespace cupola::cpu::build {

/// Code and read-only data of an object file as one position-independent block.
struct Segment {
  std::vector<std::byte> bytes;  ///< ends with the import slots
  uint64_t slots_offset = 0;
  std::vector<image::Import> imports;
  std::map<std::string, uint64_t> symbols;  ///< of defined functions: offset in the segment
  image::LineTable lines;
};

/// Lays the object's code and read-only sections out one after the other and applies its relocations, all of which must
/// be relative to the program counter. A function that the object does not define becomes an import: a slot, which the
/// loader fills, and a stub that jumps through it. Errors: NotSupported, naming the symbol, when an import is not in
/// library_calls.def; the section, when it is writable; the relocation, when it needs an absolute address.
Result<Segment> pack_segment(llvm::MemoryBufferRef object);

}  // namespace cupola::cpu::build
