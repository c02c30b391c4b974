#include "image/device_unit.h"

#include <gmock/gmock.h>

namespace cupola::image {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes(std::string_view text) {
  const auto span = std::as_bytes(std::span(text));
  return {span.begin(), span.end()};
}

TEST(DeviceUnit, UnitsBehindEachOtherComeBack) {
  std::vector<std::byte> section = write_unit({"a_1", bytes("first")});
  const std::vector<std::byte> second = write_unit({"longer_name_2", bytes("")});
  section.insert(section.end(), second.begin(), second.end());
  const auto units = read_units(section);
  ASSERT_TRUE(units) << units.error().message;
  ASSERT_EQ(units->size(), 2u);
  EXPECT_EQ((*units)[0].name, "a_1");
  EXPECT_EQ((*units)[0].fatbin, bytes("first"));
  EXPECT_EQ((*units)[1].name, "longer_name_2");
  EXPECT_TRUE((*units)[1].fatbin.empty());
}

TEST(DeviceUnit, OtherCompilersSectionsAreLeftAlone) {
  const auto units = read_units(bytes("\x10\xFF\x10\xAD and what else clang writes there, longer than a header"));
  ASSERT_TRUE(units);
  EXPECT_TRUE(units->empty());
}

TEST(DeviceUnit, EveryCutIsNoticed) {
  const std::vector<std::byte> whole = write_unit({"name", bytes("twenty bytes of code")});
  for (size_t size = 32; size < whole.size(); ++size) {  // from the size of the header on
    const auto units = read_units(std::span(whole).first(size));
    ASSERT_FALSE(units) << size;
    EXPECT_THAT(units.error().message, HasSubstr("cut off"));
  }
}

TEST(DeviceUnit, SizesThatDoNotFitAreRefused) {
  const std::vector<std::byte> whole = write_unit({"name", bytes("code")});
  for (const size_t field : {8u, 16u, 24u})
    for (const auto value : {std::byte{0xFF}, std::byte{0x7F}}) {
      std::vector<std::byte> wrong = whole;
      wrong[field + 7] = value;
      EXPECT_FALSE(read_units(wrong)) << field;
    }
}

TEST(DeviceUnit, NamesAreIdentifiersAndDiffer) {
  EXPECT_THAT(unit_name("my-file.v2", "x"), testing::MatchesRegex("my_file_v2_[0-9a-f]+"));
  EXPECT_EQ(unit_name("a", "x"), unit_name("a", "x"));
  EXPECT_NE(unit_name("a", "x"), unit_name("a", "y"));
}

}  // namespace
}  // namespace cupola::image
