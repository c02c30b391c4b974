#pragma once

#include <cstdint>

namespace cupola::metal::build {

/// Address spaces of a raised module: Metal's, by the numbers that AIR has for them. Every pointer has one; what a
/// program holds as a generic pointer that may lie in several is an i64.
enum Space : unsigned {
  kThread = 0,
  kDevice = 1,
  kConstant = 2,  ///< the parameter block alone; a program's constants are device memory
  kThreadgroup = 3,
};

// Generic addresses of memory that has none of its own on the GPU. Host addresses lie below.
inline constexpr uint64_t kSharedWindow = uint64_t{1} << 56;  ///< and a block's shared memory from here on
inline constexpr uint64_t kLocalWindow = uint64_t{2} << 56;   ///< a thread's stack
inline constexpr uint64_t kWindowBytes = uint64_t{1} << 32;

}  // namespace cupola::metal::build
