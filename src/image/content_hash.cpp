#include "image/content_hash.h"
#include "base/format.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace cupola::image {

std::string Hash128::hex() const {
  return formatted("{:016x}{:016x}", high, low);
}

Hash128 content_hash(std::span<const std::byte> bytes, uint64_t seed) {
  XXH128_hash_t hash = XXH3_128bits_withSeed(bytes.data(), bytes.size(), seed);
  return {hash.low64, hash.high64};
}

}  // namespace cupola::image
