#include "base/guarded.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace cupola {
namespace {

/// What becomes of a body that throws it.
template <typename Exception>
Error error_of(Exception exception) {
  return guarded([&]() -> Result<> { throw exception; }).error();
}

TEST(Guarded, GivesTheBodysResult) {
  EXPECT_TRUE(guarded([]() -> Result<> { return {}; }));
  const Result<> result = guarded([]() -> Result<> { return fail(ErrorCode::NotFound, "no such kernel"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::NotFound);
  EXPECT_EQ(result.error().message, "no such kernel");
}

TEST(Guarded, MakesErrorsOfExceptions) {
  EXPECT_EQ(error_of(std::bad_alloc()).code, ErrorCode::OutOfMemory);
  const Error known = error_of(std::runtime_error("the disk is full"));
  EXPECT_EQ(known.code, ErrorCode::Unknown);
  EXPECT_EQ(known.message, "an unexpected exception: the disk is full");
  EXPECT_EQ(error_of(1).code, ErrorCode::Unknown);
}

}  // namespace
}  // namespace cupola
