#include "base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace cupola {
namespace {

Result<std::unique_ptr<int>> make(int value) {
  if (value < 0) return fail(ErrorCode::InvalidValue, "value is {}; it must be at least 0", value);
  return std::make_unique<int>(value);
}

Result<> check(int value) {
  if (value > 9) return fail(ErrorCode::OutOfMemory, "too large");
  return {};
}

Result<int> doubled(int value) {
  TRY(check(value));
  TRY(std::unique_ptr<int> made, make(value));
  return *made * 2;
}

TEST(Result, TryHandsValuesOnAndErrorsUp) {
  EXPECT_EQ(doubled(4), 8);
  EXPECT_EQ(doubled(-1).error().code, ErrorCode::InvalidValue);
  EXPECT_EQ(doubled(-1).error().message, "value is -1; it must be at least 0");
  EXPECT_EQ(doubled(10).error().code, ErrorCode::OutOfMemory);
}

// Oracle: the numbers in the public "CUDA Driver API, Data types" page.
TEST(ErrorCode, HasTheNumberAndNameOfThePublicTable) {
  EXPECT_EQ(static_cast<int>(ErrorCode::InvalidValue), 1);
  EXPECT_EQ(static_cast<int>(ErrorCode::OutOfMemory), 2);
  EXPECT_EQ(static_cast<int>(ErrorCode::NoBinaryForGpu), 209);
  EXPECT_EQ(static_cast<int>(ErrorCode::IllegalAddress), 700);
  EXPECT_EQ(static_cast<int>(ErrorCode::NotSupported), 801);
  EXPECT_STREQ(name_of(ErrorCode::IllegalAddress), "IllegalAddress");
}

}  // namespace
}  // namespace cupola
