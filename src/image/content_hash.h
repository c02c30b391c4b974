#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace cupola::image {

/// A 128-bit hash of contents: XXH3 (https://github.com/Cyan4973/xxHash). It finds accidents and names things; it is no
/// protection against somebody who chooses the bytes, which is why the cache folder must be the user's own.
struct Hash128 {
  uint64_t low = 0, high = 0;
  friend bool operator==(const Hash128&, const Hash128&) = default;

  /// 32 hexadecimal digits, the high half first.
  std::string hex() const;
};

Hash128 content_hash(std::span<const std::byte> bytes, uint64_t seed = 0);

}  // namespace cupola::image
