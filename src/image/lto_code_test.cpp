#include "image/lto_code.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace cupola::image {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(LtoCode, ComesBackAsItWas) {
  const std::vector<std::byte> code = write_lto(bytes_of("BC and more"));
  EXPECT_TRUE(is_lto(code));
  EXPECT_EQ(std::to_integer<int>(code[0]) | std::to_integer<int>(code[3]) << 24, 0x7F0000ED);
  const auto back = read_lto(code);
  ASSERT_TRUE(back);
  EXPECT_TRUE(std::ranges::equal(*back, bytes_of("BC and more")));
}

TEST(LtoCode, CodeOfOthersIsKnownAndRefused) {
  const auto foreign = bytes_of("\xED\x43\x4E\x7F\x01\x02\x03\x04rest");
  EXPECT_TRUE(is_lto(foreign));
  EXPECT_EQ(read_lto(foreign).error().code, ErrorCode::NoBinaryForGpu);
  EXPECT_TRUE(is_lto(foreign.first(4)));
  EXPECT_FALSE(read_lto(foreign.first(4)));
  EXPECT_FALSE(is_lto(foreign.first(3)));
  EXPECT_FALSE(is_lto(bytes_of("BC\xC0\xDE")));
}

}  // namespace
}  // namespace cupola::image
