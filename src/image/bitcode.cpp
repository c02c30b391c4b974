#include "image/bitcode.h"

#include <cstdint>
#include <cstring>

namespace cupola::image {
namespace {

constexpr uint32_t kEnterBlock = 1;
constexpr uint32_t kModuleBlock = 8, kIdentificationBlock = 13, kStringTable = 23, kSymbolTable = 25;

uint32_t word_at(const std::byte* bytes) {
  uint32_t word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

}  // namespace

Result<size_t> bitcode_size(const std::byte* bytes) {
  size_t at = 4;  // after "BC C0 DE"
  for (;;) {
    // A block's head at a 32-bit boundary: abbreviation id in 2 bits, block id as vbr8, the new abbreviation width as
    // vbr4, padding, and the length of the body in words. All ids in use here are below 128, so that both vbrs take one
    // unit.
    const uint32_t head = word_at(bytes + at);
    const uint32_t block = (head >> 2) & 0xff;
    const bool known =
        block == kModuleBlock || block == kIdentificationBlock || block == kStringTable || block == kSymbolTable;
    if ((head & 3) != kEnterBlock || !known)
      return fail(ErrorCode::InvalidImage, "bitcode: no block that is known begins at byte {}", at);
    at += 8 + size_t{word_at(bytes + at + 4)} * 4;
    if (block == kStringTable) return at;
  }
}

}  // namespace cupola::image
