#include "backend/cpu/build/vector_convergence.h"

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: the meaning of the operations in the PTX ISA ("bar.sync", "shfl.sync", "vote.sync") and of cooperative
// groups: who has to come, and whether lanes that run in step come together.

namespace cupola::cpu::build::testing {
namespace {

/// Two branches that lanes take apart, one after the other, with a statement in each; more follows, so that none
/// leaves.
std::string obstacle(const std::string& first, const std::string& second = "") {
  const AnalysedKernel kernel(R"(
    define ptx_kernel void @k(i32 %n, ptr %p, ptr %q) {
      %l = call i32 @cupola.laneid()
      %varying = mul i32 %l, %l
      %c = icmp uge i32 %l, %n
      br i1 %c, label %first, label %between
    first:
      )" + first + R"(
      br label %between
    between:
      store i32 1, ptr %q
      br i1 %c, label %second, label %on
    second:
      )" + second + R"(
      br label %on
    on:
      store i32 2, ptr %q
      br label %end
    end:
      ret void
    })");
  EXPECT_TRUE(kernel.is_masked("first"));
  EXPECT_TRUE(kernel.is_masked("second"));
  EXPECT_FALSE(kernel.is_masked("on"));
  return kernel.obstacle();
}

constexpr const char* kSeveral = "threads may meet at several places under divergence";

/// `%NAME` and the shuffle by it of the members.
std::string shuffle(const std::string& name, const std::string& members) {
  return "%" + name + " = call i64 @cupola.shuffle(i32 " + members + ", i32 3, i32 %l, i32 0, i32 31)\n";
}

TEST(VectorConvergence, MembersThatAreThereMayMeetAnywhere) {
  const std::string active = "%a = call i32 @cupola.active_mask()\n", other = "%b = call i32 @cupola.active_mask()\n";
  EXPECT_EQ(obstacle(active + shuffle("s", "%a"), other + shuffle("t", "%b")), "");
  EXPECT_EQ(obstacle(active + "%m = call i64 @cupola.match(i32 %a, i32 0, i64 7)\n%g = trunc i64 %m to i32\n" +
                         shuffle("s", "%g"),
                     other + "%some = and i32 %b, %n\n" + shuffle("t", "%some")),
            "");
  EXPECT_EQ(obstacle(active + shuffle("s", "%a"), shuffle("t", "%n")), "") << "the others are past the last branch";
  EXPECT_EQ(obstacle(shuffle("s", "%n"), active + shuffle("t", "%a")), "") << "the others meet each other only";
  EXPECT_EQ(obstacle(shuffle("s", "%n"), shuffle("t", "%n")), kSeveral);
}

TEST(VectorConvergence, AllLanesMayMeetAtOneOfAllPlacesUnderDivergence) {
  EXPECT_EQ(obstacle(shuffle("s", "-1")), "");
  EXPECT_EQ(obstacle(shuffle("s", "-1"), shuffle("t", "-1")), kSeveral);
  EXPECT_EQ(obstacle(shuffle("s", "-1") + shuffle("t", "-1")), "") << "the same lanes come to both";
  EXPECT_EQ(obstacle(shuffle("s", "65535"), shuffle("t", "-65536")), "") << "members that never meet";
  EXPECT_EQ(obstacle(shuffle("s", "-1"), "%v = call i32 @cupola.vote(i32 -1, i32 0, i32 1)"), "")
      << "unlike operations";
  EXPECT_EQ(obstacle("call void @cupola.warp_sync(i32 -1)", "call void @cupola.warp_sync(i32 -1)"), kSeveral);
}

TEST(VectorConvergence, BarriersUnderDivergence) {
  EXPECT_EQ(obstacle("call void @cupola.barrier(i32 0, i32 0)"), "");
  EXPECT_EQ(obstacle("call void @cupola.barrier(i32 0, i32 0)", "call void @cupola.barrier(i32 0, i32 0)"), kSeveral);
  EXPECT_EQ(obstacle("call void @cupola.barrier(i32 1, i32 64)"),
            "a barrier for some of the block's threads stands under divergence");
  EXPECT_EQ(obstacle("call void @cupola.barrier(i32 %varying, i32 0)"), "threads of a warp name different barriers");
  EXPECT_EQ(obstacle("call void @cupola.grid.sync()"), "a grid-wide barrier stands under divergence");
}

TEST(VectorConvergence, WhereAllLanesComeAllIsAllowed) {
  const AnalysedKernel kernel(by_lane(R"(
      %c = icmp eq i32 %n, 0
      br i1 %c, label %yes, label %no
    yes:
      call void @cupola.barrier(i32 1, i32 64)
      call void @cupola.grid.sync()
      %s = call i64 @cupola.shuffle(i32 -1, i32 3, i32 %l, i32 0, i32 31)
      br label %end
    no:
      call void @cupola.barrier(i32 1, i32 64)
      call void @cupola.grid.sync()
      %t = call i64 @cupola.shuffle(i32 -1, i32 3, i32 %l, i32 0, i32 31)
      br label %end
    end:
      ret void
    )"));
  EXPECT_EQ(kernel.obstacle(), "");
}

TEST(VectorConvergence, OperandsThatDifferBetweenGroups) {
  EXPECT_EQ(obstacle("%m = call i64 @cupola.match(i32 %varying, i32 1, i64 7)"), "groups of lanes match all");
  EXPECT_EQ(obstacle("%m = call i64 @cupola.match(i32 %varying, i32 0, i64 7)"), "");
}

/// A loop that goes on until a word held `expected`, after which all lanes go on.
std::string obstacle_of_loop(const std::string& expected, const std::string& turn) {
  return AnalysedKernel(R"(
    define ptx_kernel void @k(i32 %n, ptr %p) {
      %start = load i32, ptr %p
      br label %loop
    loop:
      %seen = phi i32 [ %start, %0 ], [ %old, %loop ]
      )" + turn + R"(
      %old = extractvalue { i32, i1 } %r, 0
      %again = icmp ne i32 %old, )" +
                        expected + R"(
      br i1 %again, label %loop, label %on
    on:
      store i32 0, ptr %p
      br label %end
    end:
      ret void
    })")
      .obstacle();
}

TEST(VectorConvergence, ALoopThatWaitsForAnotherLaneIsNotLeftOneByOne) {
  EXPECT_EQ(obstacle_of_loop("0", "%r = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst"),
            "threads of a warp wait for each other in a loop");
}

TEST(VectorConvergence, ACompareAndSwapRetryWaitsForNobody) {
  EXPECT_EQ(obstacle_of_loop("%seen",
                             "%new = add i32 %seen, 3\n"
                             "%r = cmpxchg ptr %p, i32 %seen, i32 %new seq_cst seq_cst"),
            "");
}

TEST(VectorConvergence, MeetingsInNestedLoopsThatLanesLeaveOneByOne) {
  EXPECT_EQ(AnalysedKernel(lanes_turn_twice(shuffle("s", "-1"))).obstacle(),
            "threads meet in nested loops that they leave one by one");
}

TEST(VectorConvergence, WarpOperationsWaitForNobodyWhoLeavesTheKernel) {
  EXPECT_EQ(AnalysedKernel(lanes_turn(shuffle("s", "-1"))).obstacle(), "");
}

TEST(VectorConvergence, BarriersCountLanesThatLeaveTheKernelAsLeft) {
  EXPECT_EQ(AnalysedKernel(lanes_turn("call void @cupola.barrier(i32 0, i32 0)")).obstacle(),
            "threads meet while others of their warp leave the kernel");
}

/// A loop of two places with a shuffle, between which lanes leave; then they come to `tail`.
std::string obstacle_of_two_places(const std::string& tail) {
  return AnalysedKernel(by_lane(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %latch ]
      )" + shuffle("s", "-1") +
                                R"(
      %over = icmp eq i32 %i, %l
      br i1 %over, label %on, label %latch
    latch:
      )" + shuffle("t", "-1") +
                                R"(
      %next = add i32 %i, 1
      br label %loop
    on:
      store i32 0, ptr %p
      )" + tail + R"(
      br label %end
    end:
      ret void
    )"))
      .obstacle();
}

TEST(VectorConvergence, PlacesWhereNobodyElseMeetsAreNotTakenForOneAnother) {
  EXPECT_EQ(obstacle_of_two_places(""), "");
  EXPECT_EQ(obstacle_of_two_places("call void @cupola.warp_sync(i32 -1)"), kSeveral);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
