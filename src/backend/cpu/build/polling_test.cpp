#include "backend/cpu/build/polling.h"

#include "backend/cpu/build/test_program.h"

// Oracles: the kernels' results as computed here, and how often the poll service was called.

namespace cupola::cpu::build::testing {
namespace {

TEST(Polling, ALoopThatWaitsForAVolatileFlagPolls) {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %left) {
      br label %loop
    loop:
      %v = load volatile i32, ptr %left
      %less = sub i32 %v, 1
      store volatile i32 %less, ptr %left
      %go = icmp sgt i32 %less, 0
      br i1 %go, label %loop, label %out
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("k").polls);
  EXPECT_EQ(program.kernel("k").rung, image::Rung::ThreadFibres);
  int left = 35;
  program.launch("k", {1}, {1}, &left);
  EXPECT_EQ(left, 0);
  EXPECT_EQ(record.calls["poll"], 3);  // 34 back-edges, fuel 10 each
}

TEST(Polling, ASpinLockInACalledFunctionPolls) {
  TestProgram program(R"(
    define i1 @try(ptr %lock) noinline {
      %r = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
      %ok = extractvalue { i32, i1 } %r, 1
      ret i1 %ok
    }
    define ptx_kernel void @k(ptr %lock) {
      br label %loop
    loop:
      %ok = call i1 @try(ptr %lock)
      br i1 %ok, label %out, label %loop
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("k").polls);
}

TEST(Polling, ALoopWhoseFlagIsSetInABranchPolls) {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %lock) {
      br label %loop
    loop:
      %done = phi i1 [ false, %0 ], [ %next, %latch ]
      br i1 %done, label %out, label %body
    body:
      %r = cmpxchg ptr %lock, i32 0, i32 1 acquire monotonic
      %ok = extractvalue { i32, i1 } %r, 1
      br i1 %ok, label %got, label %latch
    got:
      store atomic i32 0, ptr %lock release, align 4
      br label %latch
    latch:
      %next = phi i1 [ true, %got ], [ false, %body ]
      br label %loop
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("k").polls);
}

TEST(Polling, ALoopWithoutAnExitPolls) {
  TestProgram program(R"(
    define ptx_kernel void @k() {
      br label %loop
    loop:
      br label %loop
    })");
  EXPECT_TRUE(program.kernel("k").polls);
}

TEST(Polling, AnIrreducibleLoopPollsWhicheverEntryItWasEnteredBy) {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %left, i32 %second) {
      %in_the_middle = icmp ne i32 %second, 0
      br i1 %in_the_middle, label %b, label %a
    a:
      %v = load volatile i32, ptr %left
      %go_b = icmp sgt i32 %v, 0
      br i1 %go_b, label %b, label %out
    b:
      %w = load volatile i32, ptr %left
      %less = sub i32 %w, 1
      store volatile i32 %less, ptr %left
      %go_a = icmp sgt i32 %less, 0
      br i1 %go_a, label %a, label %out
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("k").polls);
  for (const int second : {0, 1}) {
    int left = 35;
    record = {};
    program.launch("k", {1}, {1}, &left, second);
    EXPECT_EQ(left, 0);
    EXPECT_EQ(record.calls["poll"], 3);  // 34 turns, fuel 10 each
  }
}

TEST(Polling, AnInnerLoopOfAnIrreducibleOnePolls) {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %left, i32 %n) {
      %in_the_middle = icmp ne i32 %n, 0
      br i1 %in_the_middle, label %b, label %a
    a:
      %i = phi i32 [ 0, %0 ], [ %j, %c ]
      br label %b
    b:
      %j = phi i32 [ 1, %0 ], [ %i, %a ]
      br label %spin
    spin:
      %w = load volatile i32, ptr %left
      %less = sub i32 %w, 1
      store volatile i32 %less, ptr %left
      %again = icmp sgt i32 %less, 0
      br i1 %again, label %spin, label %c
    c:
      %more = icmp slt i32 %j, 1
      br i1 %more, label %a, label %out
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("k").polls);
  int left = 35;
  program.launch("k", {1}, {1}, &left, 1);
  EXPECT_EQ(left, 0);
  EXPECT_EQ(record.calls["poll"], 3);
}

TEST(Polling, ACountedLoopWithAtomicsDoesNot) {
  TestProgram program(R"(
    define ptx_kernel void @histogram(ptr %bins, ptr %values, i32 %n) {
      br label %head
    head:
      %i = phi i32 [ 0, %0 ], [ %next, %latch ]
      %more = icmp slt i32 %i, %n
      br i1 %more, label %body, label %out
    body:
      %w = sext i32 %i to i64
      %p = getelementptr i32, ptr %values, i64 %w
      %v = load i32, ptr %p
      %odd = trunc i32 %v to i1
      br i1 %odd, label %count, label %latch
    count:
      %vw = sext i32 %v to i64
      %b = getelementptr i32, ptr %bins, i64 %vw
      %o = atomicrmw add ptr %b, i32 1 monotonic
      br label %latch
    latch:
      %next = add i32 %i, 1
      br label %head
    out:
      ret void
    })");
  EXPECT_FALSE(program.kernel("histogram").polls);
  EXPECT_EQ(program.kernel("histogram").rung, image::Rung::ThreadLoop);
  int values[] = {1, 2, 3, 3, 0, 1, 3}, bins[4] = {};
  program.launch("histogram", {1}, {1}, &bins[0], &values[0], 7);
  EXPECT_EQ(bins[1], 2);
  EXPECT_EQ(bins[2], 0);
  EXPECT_EQ(bins[3], 3);
}

/// Goes on while `condition` holds of %i, which grows by `step` in each turn, and of %last, which it reads in each.
bool polls_while(const std::string& condition, const std::string& step, const std::string& more = "") {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %end, ptr %marks, ptr %flag) {
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %turn ]
      %w = sext i32 %i to i64
      %mark = getelementptr i32, ptr %marks, i64 %w
      %old = atomicrmw or ptr %mark, i32 1 monotonic
      %last = load i32, ptr %end
      )" + more + R"(
      br label %turn
    turn:
      %next = add i32 %i, )" +
                      step + R"(
      %on = icmp )" + condition +
                      R"(
      br i1 %on, label %loop, label %out
    out:
      ret void
    })");
  return program.kernel("k").polls;
}

TEST(Polling, ALoopThatCountsUpToWhatItReadsDoesNot) {
  EXPECT_FALSE(polls_while("slt i32 %next, %last", "1"));
  EXPECT_FALSE(polls_while("ult i32 %i, %last", "1"));
  EXPECT_FALSE(polls_while("sgt i32 %last, %next", "4"));
  EXPECT_FALSE(polls_while("sgt i32 %next, %last", "-1"));
}

TEST(Polling, ALoopThatCountsOtherwiseDoes) {
  EXPECT_TRUE(polls_while("sgt i32 %next, %last", "1"));
  EXPECT_TRUE(polls_while("slt i32 %next, %last", "-1"));
  EXPECT_TRUE(polls_while("ne i32 %next, %last", "1"));
  EXPECT_TRUE(polls_while("slt i32 %next, %last", "0"));
  EXPECT_TRUE(polls_while("slt i32 %old, %last", "1"));
}

// Counting only limits how often it asks.
TEST(Polling, ALoopThatCountsWhileItWaitsDoes) {
  EXPECT_TRUE(polls_while("slt i32 %next, %last", "1", R"(
      %f = load volatile i32, ptr %flag
      %set = icmp ne i32 %f, 0
      br i1 %set, label %out, label %clear
    clear:)"));
}

TEST(Polling, ALoopThatDoesNotAskInEachTurnHowFarItCountedDoes) {
  TestProgram program(R"(
    define ptx_kernel void @k(ptr %end, ptr %marks, i32 %asked) {
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %turn ]
      %old = atomicrmw or ptr %marks, i32 1 monotonic
      %asks = icmp eq i32 %i, %asked
      br i1 %asks, label %ask, label %turn
    ask:
      %last = load i32, ptr %end
      %on = icmp slt i32 %i, %last
      br i1 %on, label %turn, label %out
    turn:
      %next = add i32 %i, 1
      br label %loop
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("k").polls);
}

TEST(Polling, ACompareAndSwapRetryDoesNot) {
  TestProgram program(R"(
    define ptx_kernel void @times_three(ptr %p) {
      %start = load i32, ptr %p
      br label %loop
    loop:
      %seen = phi i32 [ %start, %0 ], [ %old, %loop ]
      %new = mul i32 %seen, 3
      %r = cmpxchg ptr %p, i32 %seen, i32 %new seq_cst seq_cst
      %old = extractvalue { i32, i1 } %r, 0
      %again = icmp ne i32 %old, %seen
      br i1 %again, label %loop, label %out
    out:
      ret void
    })");
  EXPECT_FALSE(program.kernel("times_three").polls);
  int value = 1;
  program.launch("times_three", {1}, {4}, &value);
  EXPECT_EQ(value, 81);
}

TEST(Polling, ALockByComparingWithAConstantDoes) {
  TestProgram program(R"(
    define ptx_kernel void @lock(ptr %p) {
      br label %loop
    loop:
      %r = cmpxchg ptr %p, i32 0, i32 1 seq_cst seq_cst
      %old = extractvalue { i32, i1 } %r, 0
      %again = icmp ne i32 %old, 0
      br i1 %again, label %loop, label %out
    out:
      ret void
    })");
  EXPECT_TRUE(program.kernel("lock").polls);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
