#include "backend/cpu/build/rung_comparison_fixture.h"

#include <gmock/gmock.h>

// Two runs in which nothing is compared are not the same.

namespace cupola::cpu::build::testing {
namespace {

using image::BlockClass;
using ::testing::HasSubstr;

constexpr Dim3 kBlock = {64};

TEST(RungComparison, CodeForWarpsIsCompared) {
  const std::string text = kernel_with("%r = add i32 %me, 1\nbr label %write");
  EXPECT_EQ(RungComparison().compare_for_shape(text, kBlock), "");
  EXPECT_EQ(RungComparison().compare_for_shape(text, kBlock, /*hot=*/true), "");
  const RungComparison::Outcome outcome = RungComparison().compare(text);
  EXPECT_TRUE(outcome.runs[BlockClass::Rows]);
  EXPECT_TRUE(outcome.runs_shape);
  EXPECT_EQ(outcome.difference, "");
}

// Threads that meet while others of their warp leave have no code for warps.
TEST(RungComparison, CodeForAThreadIsNot) {
  const std::string text = kernel_with(R"(
      %gone = icmp ult i32 %lane, 6
      br label %loop
    loop:
      %r = phi i32 [ 0, %0 ], [ %next, %stay ]
      br i1 %gone, label %out, label %stay
    stay:
      call void @cupola.barrier(i32 0, i32 0)
      %next = add i32 %r, 1
      %over = icmp uge i32 %next, %n
      br i1 %over, label %write, label %loop)");
  EXPECT_THAT(RungComparison().compare_for_shape(text, kBlock), HasSubstr("a thread at a time"));
  EXPECT_THAT(RungComparison().compare_for_shape(text, kBlock, /*hot=*/true), HasSubstr("a thread at a time"));
  const RungComparison::Outcome outcome = RungComparison().compare(text);
  EXPECT_FALSE(outcome.runs[BlockClass::Rows]);
  EXPECT_FALSE(outcome.runs_shape);
}

TEST(RungComparison, KernelsThatFailAreNotAlike) {
  const std::string text = kernel_with(R"(
      %r = add i32 %me, 1
      call void @cupola.trap()
      br label %write)") + "\ndeclare void @cupola.trap()";
  EXPECT_THAT(RungComparison().compare_for_shape(text, kBlock), HasSubstr("the reference failed"));
  EXPECT_THAT(RungComparison().compare(text).difference, HasSubstr("the reference failed"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
