#include "cupola/extent.h"

#include <charconv>

#include "base/format.h"
#include "image/block_class.h"

namespace cupola::tool {

using image::kMostThreads;

Result<Dim3> parse_extent(const std::string& option, const std::string& text) {
  Dim3 extent;
  uint32_t* numbers[] = {&extent.x, &extent.y, &extent.z};
  const char* at = text.data();
  const char* end = at + text.size();
  for (size_t i = 0; i < std::size(numbers); ++i) {
    const auto [next, error] = std::from_chars(at, end, *numbers[i]);
    if (error != std::errc() || (next != end && *next != ',')) break;
    if (next == end) return extent;
    at = next + 1;
  }
  return fail(ErrorCode::InvalidValue, "{} is '{}'; one to three numbers with commas between are expected", option,
              text);
}

Result<Dim3> parse_block(const std::string& option, const std::string& text) {
  TRY(const Dim3 block, parse_extent(option, text));
  constexpr uint32_t kMostInZ = 64;  // CUDA C++ Programming Guide, compute capabilities
  const uint64_t rows = uint64_t{block.y} * block.z;
  if (block.x == 0 || rows == 0 || block.z > kMostInZ || block.x > kMostThreads || rows > kMostThreads ||
      block.x * rows > kMostThreads)
    return fail(ErrorCode::InvalidValue, "{} is '{}'; a block has 1 to {} threads, of them at most {} in z", option,
                text, kMostThreads, kMostInZ);
  return block;
}

}  // namespace cupola::tool
