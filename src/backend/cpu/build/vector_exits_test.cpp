#include "backend/cpu/build/vector_exits.h"

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: which threads of a block come to a barrier, by CUDA's rule that those that have returned need not.

namespace cupola::cpu::build::testing {
namespace {

/// Threads for which the condition holds return before a barrier; %n is a parameter.
std::string returns_early_if(const std::string& condition) {
  return by_lane(R"(
      %t = call i32 @cupola.tid.x()
      %gone = icmp uge i32 )" +
                 condition + R"(
      br i1 %gone, label %end, label %stays
    stays:
      call void @cupola.barrier(i32 0, i32 0)
      br label %end
    end:
      ret void
    )");
}

TEST(VectorExits, AnEarlyReturnLeavesTheBarrierToAllThatStay) {
  AnalysedKernel kernel(returns_early_if("%l, %n"));
  EXPECT_TRUE(kernel.is_masked("stays"));
  EXPECT_EQ(kernel.separate().size(), 1u);
  EXPECT_FALSE(kernel.is_masked("stays"));
  EXPECT_EQ(kernel.obstacle(), "");
}

TEST(VectorExits, WhatIsDoneBeforeTheReturnIsPartOfTheDetour) {
  AnalysedKernel kernel(by_lane(R"(
      %gone = icmp uge i32 %l, %n
      br i1 %gone, label %last, label %stays
    last:
      store i32 1, ptr %p
      br label %end
    stays:
      call void @cupola.barrier(i32 0, i32 0)
      br label %end
    end:
      ret void
    )"));
  const Exits exits = kernel.separate();
  ASSERT_EQ(exits.size(), 1u);
  EXPECT_EQ((*exits.begin())->getSinglePredecessor(), kernel.block("last"));
  EXPECT_TRUE(kernel.is_masked("last"));
  EXPECT_FALSE(kernel.is_masked("stays"));
}

TEST(VectorExits, AReturnThatAllLanesTakeNeedsNone) {
  AnalysedKernel kernel(returns_early_if("%n, 5"));
  EXPECT_TRUE(kernel.separate().empty());
  EXPECT_FALSE(kernel.is_masked("stays"));
}

TEST(VectorExits, WhereNoThreadReturnsNothingIsSeparated) {
  AnalysedKernel kernel(by_lane(R"(
      %goes = icmp uge i32 %l, %n
      br i1 %goes, label %here, label %there
    here:
      store volatile i32 1, ptr %p
      br label %here
    there:
      store volatile i32 2, ptr %p
      br label %there
    )"));
  EXPECT_TRUE(kernel.separate().empty());
}

// Its lanes stay masked until the loop is over: whoever else meets in it would take them for some that are left.
TEST(VectorExits, AReturnInALoopIsNotSeparated) {
  AnalysedKernel kernel(by_lane(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %latch ]
      %gone = icmp eq i32 %l, %i
      br i1 %gone, label %last, label %latch
    last:
      store i32 1, ptr %p
      br label %end
    latch:
      call void @cupola.barrier(i32 0, i32 0)
      %bits = call i32 @cupola.vote(i32 -1, i32 3, i32 1)
      %next = add i32 %i, 1
      %over = icmp eq i32 %next, %n
      br i1 %over, label %end, label %loop
    end:
      ret void
    )"));
  EXPECT_TRUE(kernel.separate().empty());
  EXPECT_TRUE(kernel.is_masked("latch"));
  EXPECT_EQ(kernel.obstacle(), "threads meet while others of their warp leave the kernel");
}

TEST(VectorExits, ALoopThatIsLeftForTheReturnOnlyKeepsItsEnd) {
  AnalysedKernel kernel(lanes_turn(""));
  EXPECT_TRUE(kernel.separate().empty());
  EXPECT_TRUE(kernel.is_masked("loop"));
}

TEST(VectorExits, ReturnsInNestedBranchesLeaveWhatFollowsToAll) {
  AnalysedKernel kernel(by_lane(R"(
      %outer = icmp uge i32 %l, %n
      br i1 %outer, label %some, label %all
    some:
      store i32 1, ptr %p
      %inner = icmp uge i32 %l, 20
      br i1 %inner, label %end, label %others
    others:
      store i32 2, ptr %p
      br label %all
    all:
      call void @cupola.barrier(i32 0, i32 0)
      br label %end
    end:
      ret void
    )"));
  EXPECT_EQ(kernel.separate().size(), 1u);
  EXPECT_TRUE(kernel.is_masked("some"));
  EXPECT_TRUE(kernel.is_masked("others"));
  EXPECT_FALSE(kernel.is_masked("all"));
  EXPECT_EQ(kernel.obstacle(), "");
}

TEST(VectorExits, WaysThatBothMeetAreNotSeparated) {
  AnalysedKernel kernel(by_lane(R"(
      %c = icmp uge i32 %l, %n
      br i1 %c, label %yes, label %no
    yes:
      call void @cupola.barrier(i32 0, i32 0)
      br label %end
    no:
      call void @cupola.barrier(i32 0, i32 0)
      br label %end
    end:
      ret void
    )"));
  EXPECT_TRUE(kernel.separate().empty());
  EXPECT_NE(kernel.obstacle(), "");
}

TEST(VectorExits, InBlocksOfAnyShapeTheSameReturnDiverges) {
  const std::string text = returns_early_if("%t, 32");
  EXPECT_TRUE(AnalysedKernel(text, BlockClass::Rows).separate().empty());
  EXPECT_EQ(AnalysedKernel(text, BlockClass::Any).separate().size(), 1u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
