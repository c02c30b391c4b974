#include "base/byte_count.h"

#include <gtest/gtest.h>

namespace cupola {
namespace {

uint64_t bytes_of(const char* text) {
  const Result<uint64_t> bytes = parse_bytes(text);
  EXPECT_TRUE(bytes) << bytes.error().message;
  return bytes.value_or(0);
}

TEST(ByteCount, UnitsArePowersOf1024) {
  EXPECT_EQ(bytes_of("1000"), 1000u);
  EXPECT_EQ(bytes_of("1000B"), 1000u);
  EXPECT_EQ(bytes_of("64KiB"), 65536u);
  EXPECT_EQ(bytes_of("512MiB"), 536870912u);
  EXPECT_EQ(bytes_of("8GiB"), 8589934592u);
  EXPECT_EQ(bytes_of("2TiB"), 2199023255552u);
  EXPECT_EQ(bytes_of("1.5KiB"), 1536u);
}

TEST(ByteCount, OtherTextsAreRefusedInWords) {
  const std::pair<const char*, const char*> refused[] = {
      {"", "'' is no number of bytes"},
      {"many", "'many' is no number of bytes"},
      {"-1GiB", "'-1GiB' is no number of bytes"},
      {"nan", "'nan' is no number of bytes"},
      {"8GB", "'8GB': the unit must be KiB, MiB, GiB or TiB"},
      {"8 GiB", "'8 GiB': the unit must be KiB, MiB, GiB or TiB"},
  };
  for (const auto& [text, why] : refused) {
    const Result<uint64_t> bytes = parse_bytes(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().message, why);
  }
}

// A number that 64 bits do not hold is no number of bytes that a device may report.
TEST(ByteCount, MoreThanAddressesReachIsRefused) {
  EXPECT_EQ(bytes_of("16777215TiB"), 0xFFFFFF0000000000u);
  for (const char* text : {"16777216TiB", "inf", "1e30GiB"}) {
    const Result<uint64_t> bytes = parse_bytes(text);
    ASSERT_FALSE(bytes) << text;
    EXPECT_EQ(bytes.error().message, "'" + std::string(text) + "' is more than 2^64 bytes");
  }
}

}  // namespace
}  // namespace cupola
