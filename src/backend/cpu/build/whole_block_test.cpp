#include "backend/cpu/build/test_program.h"

// Which code runs a block at a time. That it computes the same is VectorDifferential's to show, and in_step.cu's.

namespace cupola::cpu::build::testing {
namespace {

/// Whether code for a block of each class runs it whole; `body` has %t and may end the kernel.
bool runs_whole(const std::string& body, const std::string& more = "") {
  auto built = build_text(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    declare void @cupola.barrier_arrive(i32, i32)
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
    declare void @cupola.grid.sync()
    declare i64 @cupola.shuffle(i32, i32, i32, i32, i32)
    )" + more + R"(
    define ptx_kernel void @k(ptr %p) {
      %t = call i32 @cupola.tid.x()
      )" + body + R"(
      ret void
    })");
  if (!built) {
    ADD_FAILURE() << built.error().message;
    return false;
  }
  const image::Kernel& kernel = built->kernels[0];
  EXPECT_NE(kernel.wide_entries[image::BlockClass::Rows].place, image::kNoEntry);
  EXPECT_NE(kernel.wide_entries[image::BlockClass::Any].place, image::kNoEntry);
  EXPECT_EQ(kernel.wide_entries[image::BlockClass::Rows].whole_block,
            kernel.wide_entries[image::BlockClass::Any].whole_block);
  return kernel.wide_entries[image::BlockClass::Rows].whole_block;
}

TEST(WholeBlock, IsCodeThatNeverWaits) {
  EXPECT_TRUE(runs_whole("store i32 %t, ptr %p"));
  EXPECT_TRUE(runs_whole("%v = call i64 @cupola.shuffle(i32 -1, i32 2, i32 %t, i32 1, i32 31)\n store i64 %v, ptr %p"));
}

TEST(WholeBlock, IsCodeThatWaitsForAllThreads) {
  EXPECT_TRUE(runs_whole("call void @cupola.barrier(i32 0, i32 0)"));
  EXPECT_TRUE(runs_whole("%n = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 1, i32 %t)\n store i32 %n, ptr %p"));
}

// Retries of an atomic sum are no waiting, also where lanes retry one by one.
TEST(WholeBlock, IsCodeThatRetries) {
  EXPECT_TRUE(
      runs_whole("%old = atomicrmw fadd ptr %p, float 1.0 monotonic\n call void @cupola.barrier(i32 0, i32 0)"));
}

TEST(WholeBlock, IsNoCodeThatWaitsForSome) {
  EXPECT_FALSE(runs_whole("call void @cupola.barrier(i32 1, i32 0)"));
  EXPECT_FALSE(runs_whole("call void @cupola.barrier(i32 0, i32 64)"));
  EXPECT_FALSE(runs_whole("call void @cupola.barrier_arrive(i32 0, i32 64)"));
}

TEST(WholeBlock, IsNoCodeThatWaitsForOtherBlocks) {
  EXPECT_FALSE(runs_whole("call void @cupola.grid.sync()"));
  EXPECT_FALSE(runs_whole(R"(
      br label %wait
    wait:
      %flag = load volatile i32, ptr %p
      %set = icmp ne i32 %flag, 0
      br i1 %set, label %on, label %wait
    on:)"));
}

// Each warp keeps its threads' arrays while it waits, on one stack for all.
TEST(WholeBlock, IsNoCodeThatKeepsMuchWhileItWaits) {
  const auto keeps = [](const std::string& count) {
    return runs_whole("%a = alloca [" + count + R"( x i32]
      %i = load i32, ptr %p
      %cell = getelementptr i32, ptr %a, i32 %i
      store i32 %t, ptr %cell
      call void @cupola.barrier(i32 0, i32 0)
      %j = load i32, ptr %p
      %other = getelementptr i32, ptr %a, i32 %j
      %v = load i32, ptr %other
      store i32 %v, ptr %p)");
  };
  EXPECT_TRUE(keeps("32"));    // 4 KiB a warp
  EXPECT_FALSE(keeps("128"));  // 16 KiB
}

/// A kernel in which each thread folds the numbers of its block, %b, and row, %row, into the word of its column, %cell:
/// one after the other, as the code goes. `body` may do more.
std::string folding(const std::string& body) {
  return R"(
    @tile = internal addrspace(3) global [1024 x i32] undef
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.tid.z()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ntid.y()
    define ptx_kernel void @k(ptr %p, ptr %q) {
    start:
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %z = call i32 @cupola.tid.z()
      %b = call i32 @cupola.ctaid.x()
      %h = call i32 @cupola.ntid.y()
      %deep = mul i32 %z, %h
      %row = add i32 %deep, %y
      %far = zext i32 %t to i64
      %cell = getelementptr i32, ptr %p, i64 %far
      %before = load i32, ptr %cell
      %times = mul i32 %before, 31
      %high = mul i32 %b, 100
      %place = add i32 %high, %row
      %after = add i32 %times, %place
      store i32 %after, ptr %cell
      )" +
         body + R"(
      ret void
    })";
}

constexpr uint32_t kBlocks = 3;

/// Whether the code runs blocks beside each other in turns; else it runs one after the other.
bool runs_beside(const std::string& body, Dim3 block) {
  TestProgram program(folding(body));
  std::vector<uint32_t> columns(block.x, 1), more(1024);
  program.call_for_blocks("k", {5}, block, kBlocks, columns.data(), more.data());
  const uint32_t rows = block.y * block.z;
  uint32_t in_turns = 1, apart = 1;
  for (uint32_t row = 0; row < rows; ++row)
    for (uint32_t b = 0; b < kBlocks; ++b) in_turns = in_turns * 31 + b * 100 + row;
  for (uint32_t b = 0; b < kBlocks; ++b)
    for (uint32_t row = 0; row < rows; ++row) apart = apart * 31 + b * 100 + row;
  EXPECT_EQ(columns, std::vector<uint32_t>(block.x, columns[0]));
  EXPECT_TRUE(columns[0] == in_turns || columns[0] == apart);
  return columns[0] == in_turns;
}

TEST(WholeBlock, BlocksBesideEachOtherTakeTurnsWhereTheirRowsGoOn) {
  for (const Dim3 block : {Dim3{32, 3}, Dim3{64, 2, 2}, Dim3{128, 2}})
    EXPECT_TRUE(runs_beside("", block)) << block.x << " x " << block.y;
}

TEST(WholeBlock, BlocksRunOneAfterTheOtherElsewhere) {
  // Shared memory is one block's, also where nobody waits.
  EXPECT_FALSE(runs_beside("%s = getelementptr i32, ptr addrspace(3) @tile, i32 %t\n store i32 %b, ptr addrspace(3) %s",
                           {32, 3}));
  // A loop goes over memory that the block's next row may need again.
  EXPECT_FALSE(runs_beside(R"(
      br label %loop
    loop:
      %turn = phi i32 [ 0, %start ], [ %next, %loop ]
      store i32 %b, ptr %q
      %next = add i32 %turn, 1
      %more = icmp ult i32 %next, %h
      br i1 %more, label %loop, label %over
    over:)",
                           {32, 3}));
  // The next block's columns are no part of the same lines of memory.
  EXPECT_FALSE(runs_beside(R"(
      %column = mul i32 %t, 8
      %low = zext i32 %column to i64
      %other = getelementptr i32, ptr %q, i64 %low
      store i32 %b, ptr %other)",
                           {32, 3}));
}

// Their rows are to stay in the first cache.
TEST(WholeBlock, BlocksTakeTurnsUpToThirtyTwoAtATime) {
  constexpr uint32_t kMany = 40, kAtATime = 32, kRows = 3;
  TestProgram program(folding(""));
  std::vector<uint32_t> columns(32, 1), more(1024);
  program.call_for_blocks("k", {kMany}, {32, kRows}, kMany, columns.data(), more.data());
  uint32_t expected = 1;
  for (uint32_t first = 0; first < kMany; first += kAtATime)
    for (uint32_t row = 0; row < kRows; ++row)
      for (uint32_t b = first; b < std::min(first + kAtATime, kMany); ++b) expected = expected * 31 + b * 100 + row;
  EXPECT_EQ(columns, std::vector<uint32_t>(32, expected));
}

/// Each thread of a plane of 5 blocks writes its block's number; %n is the width of the plane.
TEST(WholeBlock, BlocksThatTakeTurnsRunAllTheirThreads) {
  const std::string text = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.tid.z()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.ntid.y()
    declare i32 @cupola.ntid.z()
    define ptx_kernel void @k(ptr %p, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %z = call i32 @cupola.tid.z()
      %b = call i32 @cupola.ctaid.x()
      %c = call i32 @cupola.ctaid.y()
      %w = call i32 @cupola.ntid.x()
      %h = call i32 @cupola.ntid.y()
      %d = call i32 @cupola.ntid.z()
      %first = mul i32 %b, %w
      %x = add i32 %first, %t
      %behind = mul i32 %c, %d
      %plane = add i32 %behind, %z
      %deep = mul i32 %plane, %h
      %row = add i32 %deep, %y
      %down = mul i32 %row, %n
      %i = add i32 %down, %x
      %far = sext i32 %i to i64
      %cell = getelementptr i32, ptr %p, i64 %far
      %high = mul i32 %c, 100
      %number = add i32 %high, %b
      store i32 %number, ptr %cell
      ret void
    })";
  for (const Dim3 block : {Dim3{16, 4}, Dim3{16, 2, 3}, Dim3{8, 8}, Dim3{32, 3}, Dim3{64, 2, 2}, Dim3{128}}) {
    TestProgram program(text);
    const uint32_t rows = block.y * block.z, width = 5 * block.x;
    std::vector<int32_t> memory(width * rows * 2, -1);
    program.call_for_blocks("k", {5, 2}, block, 7, memory.data(), width);  // a row of the grid, and two of the next
    for (uint32_t at = 0; at < memory.size(); ++at) {
      const uint32_t x = at % width / block.x, y = at / width / rows;
      ASSERT_EQ(memory[at], y * 5 + x < 7 ? static_cast<int32_t>(y * 100 + x) : -1) << block.x << ": " << at;
    }
  }
}

/// Blocks of a kernel whose threads meet in each of 4 turns and write rows that lie %pitch further on each time: word 0
/// of the first row becomes the blocks' numbers in the order in which they came to their turns, as digits to the
/// base 8. `more` is done in each turn.
uint64_t order_of_turns(Dim3 block, uint64_t pitch, const std::string& more = "") {
  TestProgram program(R"(
    @tile = internal addrspace(3) global [64 x i32] undef
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ntid.x()
    declare void @cupola.barrier(i32, i32)
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
    define ptx_kernel void @k(ptr %order, ptr %p, i64 %pitch, i64 %turns) {
    start:
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %b = call i32 @cupola.ctaid.x()
      %w = call i32 @cupola.ntid.x()
      %left = mul i32 %b, %w
      %column = add i32 %left, %t
      %low = zext i32 %column to i64
      %down = zext i32 %y to i64
      %to.row = mul i64 %down, 160
      %first = add i64 %to.row, %low
      %corner = or i32 %t, %y
      %is.corner = icmp eq i32 %corner, 0
      br label %turn
    turn:
      %i = phi i64 [ 0, %start ], [ %next, %on ]
      br i1 %is.corner, label %note, label %on
    note:
      %before = load i64, ptr %order
      %digits = mul i64 %before, 8
      %number = zext i32 %b to i64
      %after = add i64 %digits, %number
      store i64 %after, ptr %order
      br label %on
    on:
      %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %t
      store i32 %b, ptr addrspace(3) %mine
      )" + more + R"(
      call void @cupola.barrier(i32 0, i32 0)
      %across = xor i32 %t, 1
      %other = getelementptr i32, ptr addrspace(3) @tile, i32 %across
      %v = load i32, ptr addrspace(3) %other
      %far = mul i64 %i, %pitch
      %index = add i64 %far, %first
      %place = getelementptr i32, ptr %p, i64 %index
      store i32 %v, ptr %place
      call void @cupola.barrier(i32 0, i32 0)
      %next = add i64 %i, 1
      %go = icmp ult i64 %next, %turns
      br i1 %go, label %turn, label %over
    over:
      ret void
    })");
  constexpr uint32_t kCount = 5, kTurns = 4;
  std::vector<uint32_t> rows(kTurns * 4096, 99);
  uint64_t order = 0;
  program.call_for_blocks("k", {kCount}, block, kCount, &order, rows.data(), pitch, uint64_t{kTurns});
  for (uint64_t i = 0; i < kTurns; ++i)
    for (uint32_t y = 0; y < block.y; ++y)
      for (uint32_t x = 0; x < kCount * block.x; ++x)
        EXPECT_EQ(rows[i * pitch + y * 160 + x], x / block.x) << i << ", " << y << ", " << x;
  return order;
}

constexpr uint64_t kTogether = 001234'01234'01234'01234, kApart = 00000'1111'2222'3333'4444;

TEST(WholeBlock, BlocksWithNarrowRowsGoThroughMemoryBesideEachOther) {
  EXPECT_EQ(order_of_turns({16, 4}, 4096), kTogether);
  EXPECT_EQ(order_of_turns({8, 4}, 4096), kTogether);
  EXPECT_EQ(order_of_turns({32, 4}, 4096), kApart);
}

// Neither frames nor shared memory: any number of blocks is beside each other.
TEST(WholeBlock, BlocksThatKeepNothingGoThroughMemoryBesideEachOther) {
  TestProgram program(R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    declare i32 @cupola.tid.y()
    define ptx_kernel void @k(ptr %p, i64 %pitch, i64 %turns) {
    start:
      br label %turn
    turn:
      %i = phi i64 [ 0, %start ], [ %next, %turn ]
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %b = call i32 @cupola.ctaid.x()
      %left = mul i32 %b, 16
      %column = add i32 %left, %t
      %low = zext i32 %column to i64
      %down = mul i64 %i, %pitch
      %index = add i64 %down, %low
      %place = getelementptr i32, ptr %p, i64 %index
      store i32 %y, ptr %place
      call void @cupola.barrier(i32 0, i32 0)
      store i32 %b, ptr %place
      %next = add i64 %i, 1
      %go = icmp ult i64 %next, %turns
      br i1 %go, label %turn, label %over
    over:
      ret void
    })");
  std::vector<uint32_t> rows(4 * 4096, 99);
  program.call_for_blocks("k", {5}, {16, 4}, 5, rows.data(), uint64_t{4096}, uint64_t{4});
  for (uint32_t i = 0; i < 4; ++i)
    for (uint32_t x = 0; x < 80; ++x) ASSERT_EQ(rows[i * 4096 + x], x / 16) << i << ", " << x;
}

TEST(WholeBlock, BlocksThatVoteGoThroughMemoryByThemselves) {
  EXPECT_EQ(order_of_turns({16, 4}, 4096, "%n = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)\n"),
            kApart);
}

/// Runs the first 5 blocks of a plane of 3 x 2; each thread goes through rows of %p that lie far apart and then writes
/// what `after` makes of its block's number, %number, and its own, %t, to its word of the result.
std::vector<uint32_t> after_turns(uint32_t threads, const std::string& before, const std::string& after,
                                  const std::string& alignment = "4") {
  TestProgram program(R"(
    @tile = internal addrspace(3) global [64 x i32] undef, align )" +
                      alignment + R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare void @cupola.barrier(i32, i32)
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
    define ptx_kernel void @k(ptr %p, ptr %q, i64 %pitch, i64 %turns) {
    start:
      %t = call i32 @cupola.tid.x()
      %w = call i32 @cupola.ntid.x()
      %b = call i32 @cupola.ctaid.x()
      %c = call i32 @cupola.ctaid.y()
      %rows = mul i32 %c, 3
      %number = add i32 %rows, %b
      %column = zext i32 %t to i64
      %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %t
      )" + before + R"(
      br label %loop
    loop:
      %i = phi i64 [ 0, %start ], [ %next, %loop ]
      %sum = phi i32 [ 0, %start ], [ %more, %loop ]
      %down = mul i64 %i, %pitch
      %index = add i64 %down, %column
      %place = getelementptr i32, ptr %p, i64 %index
      %v = load i32, ptr %place
      %more = add i32 %sum, %v
      %next = add i64 %i, 1
      %go = icmp ult i64 %next, %turns
      br i1 %go, label %loop, label %over
    over:
      )" + after + R"(
      %first = mul i32 %number, %w
      %slot = add i32 %first, %t
      %wide = zext i32 %slot to i64
      %out = getelementptr i32, ptr %q, i64 %wide
      %all = add i32 %result, %more
      store i32 %all, ptr %out
      ret void
    })");
  constexpr uint64_t kPitch = 1024, kTurns = 20;
  std::vector<uint32_t> rows(kTurns * kPitch), result(6 * threads);
  for (uint64_t i = 0; i < kTurns; ++i)
    for (uint32_t t = 0; t < threads; ++t) rows[i * kPitch + t] = 1000000;
  program.call_for_blocks("k", {3, 2}, {threads}, 5, rows.data(), result.data(), kPitch, kTurns);
  for (uint32_t& one : result) one -= one ? kTurns * 1000000 : 0;
  return result;
}

TEST(WholeBlock, BlocksWhoseWarpsTakeTurnsHaveSharedMemoryOfTheirOwn) {
  for (const uint32_t threads : {64u, 40u}) {
    const auto result = after_turns(threads, R"(
      %high = mul i32 %number, 100
      %value = add i32 %high, %t
      store i32 %value, ptr addrspace(3) %mine)",
                                    R"(
      call void @cupola.barrier(i32 0, i32 0)
      %up = add i32 %t, 32
      %across = urem i32 %up, %w
      %theirs = getelementptr i32, ptr addrspace(3) @tile, i32 %across
      %result = load i32, ptr addrspace(3) %theirs)");
    for (uint32_t at = 0; at < result.size(); ++at)
      ASSERT_EQ(result[at], at / threads < 5 ? at / threads * 100 + (at % threads + 32) % threads : 0) << at;
  }
}

TEST(WholeBlock, BlocksWhoseWarpsTakeTurnsCountTheirOwnVotes) {
  const auto result = after_turns(64, "", R"(
      %is_low = icmp ule i32 %t, %number
      %vote = zext i1 %is_low to i32
      %result = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 %vote))");
  for (uint32_t at = 0; at < result.size(); ++at) ASSERT_EQ(result[at], at / 64 < 5 ? at / 64 + 1 : 0) << at;
}

TEST(WholeBlock, BlocksWhoseWarpsTakeTurnsHaveSharedMemoryAsAligned) {
  for (const std::string alignment : {"1024", "4096"}) {
    const auto result = after_turns(64, "%kept = alloca ptr", R"(
      %generic = addrspacecast ptr addrspace(3) @tile to ptr
      store volatile ptr %generic, ptr %kept
      %address = load volatile i64, ptr %kept
      %bits = urem i64 %address, )" + alignment + R"(
      %result = trunc i64 %bits to i32)",
                                    alignment);
    for (uint32_t at = 0; at < result.size(); ++at) ASSERT_EQ(result[at], 0u) << alignment << ": " << at;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
