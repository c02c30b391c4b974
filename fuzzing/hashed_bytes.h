#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "image/content_hash.h"

/// The bytes with the hash of those before it in place of the last 16, or nothing behind it would ever be reached.
inline std::vector<std::byte> with_hash(const uint8_t* data, size_t size) {
  std::vector<std::byte> bytes(size);
  if (size) std::memcpy(bytes.data(), data, size);
  if (size < 16) return bytes;
  const cupola::image::Hash128 hash = cupola::image::content_hash(std::span(bytes).first(size - 16));
  std::memcpy(bytes.data() + size - 16, &hash.low, 8);
  std::memcpy(bytes.data() + size - 8, &hash.high, 8);
  return bytes;
}
