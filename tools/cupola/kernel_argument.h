#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cupola::tool {

/// An argument of a kernel as the command line gives it:
///   i32:-5  u64:7  f32:1.5      a value; types i8 to i64, u8 to u64, f32, f64; integers also as 0x2a
///   in:f32:1,2,3                a buffer with these values
///   out:u32:16                  a buffer of 16 zeros, printed when the kernel has run
///   inout:i32:1,2               a buffer with these values, printed when the kernel has run
struct KernelArgument {
  enum class Kind : uint8_t { Value, Buffer };
  Kind kind = Kind::Value;
  std::string type;
  bool prints = false;
  std::vector<std::byte> bytes;  ///< the value, or the buffer's contents
};

/// Error: InvalidValue, naming the argument and what is wrong.
Result<KernelArgument> parse_argument(std::string_view text);

/// The numbers of a buffer, with blanks between.
std::string text_of(const KernelArgument& argument);

}  // namespace cupola::tool
