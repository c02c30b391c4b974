// CUDA_VISIBLE_DEVICES. Oracle: the examples of "CUDA C++ Programming Guide, CUDA Environment Variables"; what those
// leave open is what an H200 (driver 580) answered.

#include "runtime/visible_devices.h"

#include <gmock/gmock.h>

namespace cupola::runtime {
namespace {

using testing::ElementsAre;

constexpr Uuid kDevices[] = {
    {0x89, 0x32, 0xf9, 0x37, 0xd7, 0x2c, 0x41, 0x06, 0xc1, 0x2f, 0x20, 0xbd, 0x9f, 0xae, 0xd9, 0xf6},
    {0x89, 0x32, 0xf9, 0x38},
    {0xab, 0xcd, 0xef, 0x01},
};

std::vector<size_t> seen(std::string_view wanted) {
  return visible_devices(wanted, kDevices).value_or(std::vector<size_t>());
}

ErrorCode refusal(std::string_view wanted) {
  const auto visible = visible_devices(wanted, kDevices);
  return visible ? ErrorCode{} : visible.error().code;
}

TEST(VisibleDevices, AreEnumeratedInTheOrderOfTheSequence) {
  EXPECT_THAT(seen("2,1"), ElementsAre(2, 1));
  EXPECT_THAT(seen("0"), ElementsAre(0));
  EXPECT_THAT(seen(" 1 , 0 "), ElementsAre(1, 0));
}

TEST(VisibleDevices, EndAtAnInvalidIndex) {
  EXPECT_THAT(seen("0,2,-1,1"), ElementsAre(0, 2));
  EXPECT_THAT(seen("0,3,1"), ElementsAre(0));
  EXPECT_THAT(seen("0,99999999999999999999,1"), ElementsAre(0));
  EXPECT_THAT(seen("0,,1"), ElementsAre(0));
  EXPECT_THAT(seen("1,"), ElementsAre(1));
}

TEST(VisibleDevices, AreNamedByTheBeginningOfTheirUuids) {
  EXPECT_THAT(seen("GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"), ElementsAre(0));
  EXPECT_THAT(seen("GPU-ab,GPU-8932F938"), ElementsAre(2, 1));
  EXPECT_EQ(refusal("GPU-8932f93"), ErrorCode::NoDevice);  // of two
  EXPECT_EQ(refusal("GPU-"), ErrorCode::NoDevice);
  EXPECT_EQ(refusal("gpu-ab"), ErrorCode::NoDevice);
}

TEST(VisibleDevices, AreNoneOfAnEmptySequence) {
  for (const char* none : {"", "-1", "3", "abc", ",0", "NoDevFiles"})
    EXPECT_EQ(refusal(none), ErrorCode::NoDevice) << none;
}

TEST(VisibleDevices, AreReadAsTheDriverReadsThem) {
  for (const char* zero : {"00", "+0", "0x0", "0abc", "0;1"}) EXPECT_THAT(seen(zero), ElementsAre(0)) << zero;
  EXPECT_THAT(seen("0,GPU-ab"), ElementsAre(0));
  EXPECT_THAT(seen("GPU-ab,0"), ElementsAre(2));
  EXPECT_EQ(refusal("0,0"), ErrorCode::InvalidDevice);
}

}  // namespace
}  // namespace cupola::runtime
