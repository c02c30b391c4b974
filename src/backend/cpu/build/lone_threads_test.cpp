#include "backend/cpu/build/lone_threads.h"

#include "backend/cpu/build/analysed_kernel.h"

// Which kernels run a thread after the other. That they compute the same is VectorDifferential's to show.

namespace cupola::cpu::build::testing {
namespace {

/// Thread t goes from %begin to %end, numbers that it has read, and does `turn` with %i, %i64 and %sum, which becomes
/// %next_sum. `step`: of %i, as blocks of 256 threads have it.
std::string walk(const std::string& turn, const std::string& begin = "%first", const std::string& step = "1") {
  return R"(
    define ptx_kernel void @k(ptr %p, ptr %q, ptr %r, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %t64 = zext i32 %t to i64
      %a = getelementptr i32, ptr %p, i64 %t64
      %first = load i32, ptr %a
      %b = getelementptr i32, ptr %a, i64 1
      %last = load i32, ptr %b
      br label %loop
    loop:
      %i = phi i32 [ )" +
         begin + R"(, %0 ], [ %next, %loop ]
      %sum = phi i32 [ 0, %0 ], [ %next_sum, %loop ]
      %i64 = sext i32 %i to i64
      )" +
         turn +
         R"(
      %next = add i32 %i, )" +
         step + R"(
      %goes_on = icmp slt i32 %next, %last
      br i1 %goes_on, label %loop, label %end
    end:
      %to = getelementptr i32, ptr %r, i64 %t64
      store i32 %next_sum, ptr %to
      br label %out
    out:
      ret void
    })";
}

constexpr const char* kOfARow = R"(
  %c = getelementptr i32, ptr %q, i64 %i64
  %column = load i32, ptr %c
  %column64 = sext i32 %column to i64
  %x = getelementptr i32, ptr %r, i64 %column64
  %value = load i32, ptr %x
  %next_sum = add i32 %sum, %value)";

TEST(LoneThreads, WalkRowsOfASparseMatrix) {
  const AnalysedKernel kernel(walk(kOfARow));
  EXPECT_TRUE(kernel.is_faster_alone());
  EXPECT_TRUE(kernel.may_run_alone());
}

TEST(LoneThreads, DoNotComputeMoreThanTheyRead) {
  EXPECT_FALSE(AnalysedKernel(walk("%v = mul i32 %sum, %i\n %w = xor i32 %v, %n\n %next_sum = add i32 %w, 7"))
                   .is_faster_alone());
}

// Each turn waits for the one before: lanes wait at the same time.
TEST(LoneThreads, DoNotFollowChains) {
  EXPECT_FALSE(AnalysedKernel(walk(R"(
      %s = sext i32 %sum to i64
      %c = getelementptr i32, ptr %q, i64 %s
      %next_sum = load i32, ptr %c)"))
                   .is_faster_alone());
}

// Threads beside each other read places beside each other, and the next turn's lie far away.
TEST(LoneThreads, DoNotStrideThroughWhatTheyShare) {
  EXPECT_FALSE(AnalysedKernel(walk(kOfARow, "%t", "256")).is_faster_alone());
}

// Rows of one length: no lane waits for the longest.
TEST(LoneThreads, AllGoOnAsLong) {
  const std::string in_own_row = R"(
      %at = add i32 %i, %first
      %at64 = sext i32 %at to i64
      %c = getelementptr i32, ptr %q, i64 %at64
      %value = load i32, ptr %c
      %next_sum = add i32 %sum, %value)";
  EXPECT_TRUE(AnalysedKernel(walk(in_own_row, "0")).is_faster_alone());
  std::string text = walk(in_own_row, "0");
  text.replace(text.find("slt i32 %next, %last"), 20, "slt i32 %next, %n   ");
  EXPECT_FALSE(AnalysedKernel(text).is_faster_alone());
}

// Code for one thread has no turns.
TEST(LoneThreads, MarksOfTurnsCostNothing) {
  EXPECT_TRUE(AnalysedKernel("declare void @cupola.turn(i1)\n" +
                             walk(std::string(kOfARow) + "\n call void @cupola.turn(i1 true)"))
                  .is_faster_alone());
}

// What all update is one update for lanes in step.
TEST(LoneThreads, DoNotQueueForOnePlace) {
  EXPECT_FALSE(
      AnalysedKernel(walk(std::string(kOfARow) + "\n %old = atomicrmw add ptr %p, i32 1 monotonic")).is_faster_alone());
}

TEST(LoneThreads, WaitForNobody) {
  const std::string waits = std::string(kOfARow) + "\n call void @cupola.warp_sync(i32 -1)";
  EXPECT_FALSE(AnalysedKernel(walk(waits)).may_run_alone());
  std::string counts_on_others = kOfARow;
  counts_on_others.replace(counts_on_others.find("load"), 4, "load volatile");
  EXPECT_FALSE(AnalysedKernel(walk(counts_on_others)).may_run_alone());
  EXPECT_FALSE(AnalysedKernel(R"(
    define ptx_kernel void @k(ptr %flag) {
      br label %loop
    loop:
      %set = load atomic i32, ptr %flag monotonic, align 4
      %waits = icmp eq i32 %set, 0
      br i1 %waits, label %loop, label %out
    out:
      ret void
    })")
                   .may_run_alone());
}

}  // namespace
}  // namespace cupola::cpu::build::testing
