#pragma once

#include <cstdint>

#include "image/thread_operations.h"

namespace cupola::image {

/// The lane that `lane` reads, itself where the answer lies outside of its segment, and whether it lies inside.
struct ShuffleSource {
  uint32_t lane;
  bool valid;
};

/// PTX ISA, "shfl.sync": of `b` the low five bits; of `c` the clamp in bits 0 to 4, the segment mask in bits 8 to 12.
constexpr ShuffleSource shuffle_source(ShuffleKind kind, uint32_t b, uint32_t c, uint32_t lane) {
  b &= 31;
  const uint32_t clamp = c & 31, segment = c >> 8 & 31;
  const uint32_t first = lane & segment, last = first | (clamp & ~segment);
  uint32_t source = first | (b & ~segment);
  bool valid = source <= last;
  switch (kind) {
    case ShuffleKind::Up:
      source = lane - b;
      valid = static_cast<int32_t>(source) >= static_cast<int32_t>(last);
      break;
    case ShuffleKind::Down:
      source = lane + b;
      valid = source <= last;
      break;
    case ShuffleKind::Bfly:
      source = lane ^ b;
      valid = source <= last;
      break;
    case ShuffleKind::Idx:
      break;
  }
  return {valid ? source : lane, valid};
}

}  // namespace cupola::image
