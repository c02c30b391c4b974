#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "backend/cpu/build/random_kernel.h"
#include "backend/cpu/build/rung_comparison_fixture.h"

// Kernels in step do what their threads do one at a time.

namespace cupola::cpu::build::testing {
namespace {

using image::BlockClass;

/// Of a kernel that has code for warps.
void expect_same(const RungComparison::Outcome& outcome, const std::string& which = "") {
  EXPECT_TRUE(outcome.runs[BlockClass::Rows]) << which;
  EXPECT_TRUE(outcome.runs_shape) << which;
  EXPECT_EQ(outcome.difference, "") << which;
}

/// CUPOLA_SEEDS=FIRST:COUNT runs others than the usual ones; CUPOLA_SEED_FILE=NAME keeps the last one's text.
/// CUPOLA_SEED_SHAPES=one compares each for one shape of blocks only, the next one each time; =line with hot code for
/// several warps in a line only.
TEST(VectorDifferential, RandomKernelsWriteWhatTheyDoAThreadAtATime) {
  uint64_t first = 0, count = 60, ran_shape = 0;
  image::ByBlockClass<uint64_t> ran;
  if (const char* seeds = getenv("CUPOLA_SEEDS")) sscanf(seeds, "%" SCNu64 ":%" SCNu64, &first, &count);
  const char* shapes = getenv("CUPOLA_SEED_SHAPES");
  const bool one_shape = shapes && std::string_view(shapes) == "one",
             one_line = shapes && std::string_view(shapes) == "line";
  RungComparison comparison;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    comparison.grid = RandomKernel::grid(seed);
    const std::string text = RandomKernel(seed).text();
    if (const char* file = getenv("CUPOLA_SEED_FILE")) std::ofstream(file) << text;
    const RungComparison::Outcome outcome = one_shape  ? comparison.compare_by_number(text, seed)
                                            : one_line ? comparison.compare_for_line(text, seed)
                                                       : comparison.compare(text);
    ran_shape += outcome.runs_shape;
    for (const BlockClass blocks : image::kBlockClasses) ran[blocks] += outcome.runs[blocks];
    EXPECT_EQ(outcome.difference, "") << "seed " << seed << ", " << text.size() << " bytes";
  }
  printf("%" PRIu64 " kernels, in step: %" PRIu64 " in the shape of blocks that each is compiled for\n", count,
         ran_shape);
  if (count >= 50) EXPECT_GE(ran_shape * 10, count * 9);
  if (one_shape || one_line) return;
  printf("of all shapes: %" PRIu64 " in rows, %" PRIu64 " of 16, %" PRIu64 " of 8, %" PRIu64 " in any block\n",
         ran[BlockClass::Rows], ran[BlockClass::Rows16], ran[BlockClass::Rows8], ran[BlockClass::Any]);
  if (count < 50) return;
  EXPECT_GE(ran[BlockClass::Rows] * 10, count * 9);
  for (const BlockClass blocks : {BlockClass::Rows16, BlockClass::Rows8, BlockClass::Any})
    EXPECT_GE(ran[blocks] * 10, count * 8);
}

// First code and hot code of shapes for which it was wrong once.
TEST(VectorDifferential, KernelsThatWereWrongOnceAreRight) {
  const auto is_right = [](const RungComparison::Outcome& outcome, uint64_t seed) {
    EXPECT_TRUE(outcome.runs_shape) << "seed " << seed;
    EXPECT_EQ(outcome.difference, "") << "seed " << seed;
  };
  RungComparison comparison;
  for (const uint64_t seed :
       std::initializer_list<uint64_t>{1'012'002'765, 3'210'003'739, 3'400'000'030, 3'511'001'037, 5'003'340'987})
    is_right(comparison.compare_by_number(RandomKernel(seed).text(), seed), seed);
  constexpr uint64_t kInALine = 4'535'000'047U;
  is_right(comparison.compare_for_line(RandomKernel(kInALine).text(), kInALine), kInALine);
  // Many blocks for each worker, of which some are inner.
  for (const uint64_t seed : {4'660'000'409U, 4'660'001'121U, 4'660'000'842U})
    is_right(RungComparison({40}).compare_by_number(RandomKernel(seed).text(), seed), seed);
}

// In a block of several rows the first threads of each one.
TEST(VectorDifferential, OnlyTheFirstThreadsOfARowAct) {
  const RungComparison::Outcome outcome = RungComparison().compare(kernel_with(R"(
      call void @cupola.barrier(i32 0, i32 0)
      %few = icmp ult i32 %x, 3
      br i1 %few, label %act, label %meet
    act:
      %me.far = zext i32 %me to i64
      %mark = getelementptr i8, ptr %o8, i64 %me.far
      store i8 1, ptr %mark
      br label %meet
    meet:
      call void @cupola.barrier(i32 0, i32 0)
      %r = add i32 %me, 1
      br label %write)"));
  expect_same(outcome);
}

/// Behind a barrier threads below %bound change what they left in shared memory before it. `before` makes %bound.
std::string first_threads_act(const std::string& before) {
  return "@tile = internal addrspace(3) global [256 x i32] undef, align 4\ndeclare i32 @cupola.ctaid.x()\n" +
         kernel_with(before + R"(
      %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %x
      store i32 %x, ptr addrspace(3) %mine
      call void @cupola.barrier(i32 0, i32 0)
      %acts = icmp ult i32 %x, %bound
      br i1 %acts, label %act, label %on
    act:
      store i32 77, ptr addrspace(3) %mine
      br label %on
    on:
      call void @cupola.barrier(i32 0, i32 0)
      %r = load i32, ptr addrspace(3) %mine
      br label %write)");
}

// How many act each warp has known since before the barrier.
TEST(VectorDifferential, TheFirstThreadsActWhereWarpsKnowDifferentBounds) {
  const std::string text = first_threads_act(R"(
      %warp = lshr i32 %x, 5
      %which = getelementptr i32, ptr %in, i32 %warp
      %some = load i32, ptr %which
      %few = and i32 %some, 7
      %is.first = icmp eq i32 %warp, 0
      %bound = select i1 %is.first, i32 %few, i32 120)");
  for (const bool hot : {false, true})
    for (const Dim3& block : {Dim3{128}, Dim3{256}})
      EXPECT_EQ(RungComparison().compare_for_shape(text, block, hot), "") << block.x << hot;
}

// As many as the kernel is told, or as its block's number says.
TEST(VectorDifferential, TheFirstThreadsActBelowWhatALaunchSays) {
  for (const char* bound : {"add i32 %n, 0", "call i32 @cupola.ctaid.x()"}) {
    const std::string text = first_threads_act(formatted("%bound = {}", bound));
    for (const bool hot : {false, true})
      EXPECT_EQ(RungComparison({1}).compare_for_shape(text, Dim3{128}, hot), "") << bound << hot;
  }
}

// One after the other in loops in which each goes through a row of its own: with two results, in a loop around it, and
// in one that writes what is before.
TEST(VectorDifferential, ThreadsGoThroughRowsOfTheirOwnBetweenBarriers) {
  const RungComparison::Outcome outcome = RungComparison().compare(kernel_with(R"(
      %turns = lshr i32 %n, 1
      %begin = mul i32 %lane, %turns
      %begin64 = zext i32 %begin to i64
      %row = getelementptr i32, ptr %in, i64 %begin64
      %cells = mul i32 %me, 20
      %cells64 = zext i32 %cells to i64
      %to = getelementptr i64, ptr %o64, i64 %cells64
      br label %again
    again:
      %j = phi i32 [ 0, %0 ], [ %j.next, %summed ]
      %all = phi i32 [ %me, %0 ], [ %all.next, %summed ]
      br label %sum
    sum:
      %i = phi i32 [ 0, %again ], [ %i.next, %sum ]
      %so.far = phi i32 [ %all, %again ], [ %with, %sum ]
      %odd = phi i32 [ %j, %again ], [ %odd.next, %sum ]
      %i64 = zext i32 %i to i64
      %from = getelementptr i32, ptr %row, i64 %i64
      %word = load i32, ptr %from
      %with = add i32 %so.far, %word
      %odd.next = xor i32 %odd, %word
      %i.next = add i32 %i, 1
      %goes.on = icmp ult i32 %i.next, %turns
      br i1 %goes.on, label %sum, label %summed
    summed:
      %last = phi i32 [ %odd.next, %sum ]
      %more = mul i32 %with, 3
      %all.next = add i32 %more, %last
      call void @cupola.barrier(i32 0, i32 0)
      %j.next = add i32 %j, 1
      %goes.again = icmp ult i32 %j.next, 3
      br i1 %goes.again, label %again, label %settled
    settled:
      br label %put
    put:
      %p = phi i32 [ 0, %settled ], [ %p.next, %put ]
      %running = phi i32 [ %all.next, %settled ], [ %running.next, %put ]
      %p64 = zext i32 %p to i64
      %read = getelementptr i32, ptr %row, i64 %p64
      %count = load i32, ptr %read
      %cell = getelementptr i64, ptr %to, i64 %p64
      %wide = zext i32 %running to i64
      store i64 %wide, ptr %cell
      %running.next = add i32 %running, %count
      %p.next = add i32 %p, 1
      %goes.further = icmp ult i32 %p.next, %turns
      br i1 %goes.further, label %put, label %done
    done:
      %r = add i32 %running.next, %me
      br label %write)"));
  EXPECT_TRUE(outcome.runs[BlockClass::Any]);
  expect_same(outcome);
}

// A number of 8 bits that steps by 100 wraps several times in a warp; the last lane's alone does not show it.
TEST(VectorDifferential, AnIndexThatWrapsSeveralTimesIsNotARow) {
  const RungComparison::Outcome outcome = RungComparison().compare(kernel_with(R"(
      %narrow = trunc i32 %lane to i8
      %hundred = mul i8 %narrow, 100
      %some = load i8, ptr %in
      %sum = add i8 %hundred, %some
      %wide = sext i8 %sum to i64
      %lane64 = zext i32 %lane to i64
      %back = mul i64 %lane64, -99
      %i = add i64 %wide, %back
      %base = getelementptr i8, ptr %in, i64 3800
      %from = getelementptr i8, ptr %base, i64 %i
      %v = load i8, ptr %from
      %r = zext i8 %v to i32
      br label %write)"));
  expect_same(outcome);
}

// Those that have returned are not waited for, and have no say: of a warp's operation also where they return in the
// loop, of a block's before it.
TEST(VectorDifferential, AReturnLeavesWarpAndBlockOperationsToTheOthers) {
  struct Case {
    std::string operation, begin, turn;
  };
  const std::string leave = "br i1 %gone, label %out, label ", stay = "br label ";
  for (const auto& [operation, begin, turn] : {Case{"@cupola.vote(i32 -1, i32 3, i32 1)", stay, leave},
                                               {"@cupola.vote(i32 -1, i32 3, i32 1)", leave, stay},
                                               {"@cupola.barrier_reduce(i32 0, i32 0, i32 1, i32 1)", leave, stay},
                                               {"@cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)", leave, stay}})
    expect_same(RungComparison().compare(kernel_with(R"(
      %gone = icmp ult i32 %lane, 6
      )" + begin + R"(%loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %stay ]
      %sum = phi i32 [ 0, %0 ], [ %r, %stay ]
      )" + turn + R"(%stay
    stay:
      %answer = call i32 )" + operation + R"(
      %r = add i32 %sum, %answer
      %next = add i32 %i, 1
      %over = icmp uge i32 %next, %n
      br i1 %over, label %write, label %loop)")),
                operation + ", " + turn);
}

// Lanes that are there add to one place together, and each finds what it would have found.
TEST(VectorDifferential, LanesThatAddToOnePlaceFindWhatLowerOnesAdded) {
  const auto adds = [](const std::string& operation) {
    return kernel_with(R"(
      %block = call i32 @cupola.ctaid.x()
      %cell = getelementptr i32, ptr %sums, i32 %block
      %from = getelementptr i32, ptr %in, i32 %me
      %value = load i32, ptr %from
      %odd = trunc i32 %value to i1
      br i1 %odd, label %add, label %on
    add:
      %old = atomicrmw )" +
                       operation + R"( monotonic
      br label %on
    on:
      %r = phi i32 [ 7, %0 ], [ %old, %add ]
      br label %write)") +
           "\ndeclare i32 @cupola.ctaid.x()";
  };
  for (const std::string operation : {"add ptr %cell, i32 %value", "add ptr %cell, i32 1", "sub ptr %cell, i32 %value"})
    expect_same(RungComparison().compare(adds(operation)), operation);
}

// Of a matrix with rows of 37 numbers each block writes some lines, a thread in y a column, but for some of both.
TEST(VectorDifferential, StoresDownColumnsAreThoseOfTheirThreads) {
  const std::string columns = R"(
      %some = and i32 %me, 255
      %i = getelementptr TYPE, ptr %in, i32 %some
      %value = load TYPE, ptr %i
      %block = call i32 @cupola.ctaid.x()
      %first = mul i32 %block, %width
      %line.of.all = add i32 %first, %x
      %down = mul i32 %line.of.all, %n
      %number = add i32 %down, %y
      %number64 = zext i32 %number to i64
      %p = getelementptr TYPE, ptr OUT, i64 %number64
      %inside = icmp ult i32 %x, 13
      br i1 %inside, label %next, label %last
    next:
      %up = icmp ugt i32 %y, 2
      br i1 %up, label %store, label %last
    store:
      store TYPE %value, ptr %p
      br label %last
    last:
      %r = add i32 0, 0
      br label %out)";
  for (const auto& [type, out] : {std::pair("i32", "%o32"), {"i8", "%o8"}, {"i16", "%o16"}, {"i64", "%o64"}}) {
    std::string body = columns;
    for (const auto& [from, to] : {std::pair("TYPE", type), {"OUT", out}})
      for (size_t at; (at = body.find(from)) != std::string::npos;) body.replace(at, strlen(from), to);
    const std::string text = kernel_with(body) + "\ndeclare i32 @cupola.ctaid.x()";
    for (const Dim3& block : {Dim3{16, 16}, Dim3{8, 8}, Dim3{32, 32}, Dim3{5, 5}, Dim3{16, 8}})
      EXPECT_EQ(RungComparison().compare_for_shape(text, block), "") << type;
  }
}

// What two ways bring to one place behind a meeting is made before them, of one region and of two that follow.
TEST(VectorDifferential, ValuesThatOnePhiTakesHaveEachTheirPlace) {
  for (const char* between : {"", "call void @cupola.barrier(i32 0, i32 0)"}) {
    const RungComparison::Outcome outcome = RungComparison().compare(kernel_with(std::string(R"(
      %me64.first = zext i32 %me to i64
      %one = getelementptr i32, ptr %in, i64 %me64.first
      %a = load i32, ptr %one
      )") + between + R"(
      %other = getelementptr i32, ptr %one, i64 50
      %b = load i32, ptr %other
      %some = icmp sgt i32 %n, 5
      call void @cupola.barrier(i32 0, i32 0)
      br i1 %some, label %once, label %join
    once:
      call void @cupola.barrier(i32 0, i32 0)
      br label %join
    join:
      %r = phi i32 [ %a, %once ], [ %b, %0 ]
      call void @cupola.barrier(i32 0, i32 0)
      br label %write)"));
    expect_same(outcome, between);
  }
}

// Every second of them first, of any number; calls of the code end in the middle of rows of the grid and at their ends.
TEST(VectorDifferential, NarrowBlocksBesideEachOtherAreAllRun) {
  const std::string text = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ctaid.y()
    declare i32 @cupola.nctaid.x()
    define ptx_kernel void @k(ptr %o8, ptr %o16, ptr %o32, ptr %o64, ptr %in, ptr %sums, i32 %n, i32 %total) {
      %x = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %block = call i32 @cupola.ctaid.x()
      %grid.row = call i32 @cupola.ctaid.y()
      %in.row = call i32 @cupola.nctaid.x()
      %ahead = mul i32 %grid.row, %in.row
      %number = add i32 %ahead, %block
      %of.block = mul i32 %number, 64
      %of.row = mul i32 %y, 16
      %row = add i32 %of.block, %of.row
      %me = add i32 %row, %x
      %me64 = zext i32 %me to i64
      %b = mul i32 %me, 3
      %to = getelementptr i32, ptr %o32, i64 %me64
      store i32 %b, ptr %to
      ret void
    })";
  for (const Dim3& grid : {Dim3{1}, Dim3{3}, Dim3{2001}, Dim3{3, 70}, Dim3{5, 33}, Dim3{31, 7}})
    EXPECT_EQ(RungComparison(grid).compare_for_shape(text, {16, 4}, /*hot=*/false), "") << grid.x << " x " << grid.y;
}

// The counter is asked for behind the loop, by itself or as an index.
TEST(VectorDifferential, CountersAreTheirThreadsBehindTheLoop) {
  for (const char* index : {"", "%index = sext i32 %i to i64\n"}) {
    const std::string text = kernel_with(R"(
      br label %head
    head:
      %i = phi i32 [ %x, %0 ], [ %next, %body ]
      %sum = phi i32 [ 1, %0 ], [ %more, %body ]
      )" + std::string(index) + R"(%on = icmp slt i32 %i, 250
      br i1 %on, label %body, label %meet
    body:
      %at = sext i32 %i to i64
      %from = getelementptr i32, ptr %in, i64 %at
      %value = load i32, ptr %from
      %more = add i32 %sum, %value
      %next = add i32 %i, %width
      br label %head
    meet:
      )" + (*index ? "%last = trunc i64 %index to i32" : "%last = add i32 %i, 0") +
                                         R"(
      call void @cupola.barrier(i32 0, i32 0)
      %r = add i32 %sum, %last
      br label %write)");
    EXPECT_EQ(RungComparison().compare_for_shape(text, Dim3{100}), "") << index;
  }
}

// A thread after the other in blocks of all shapes; threads of some rows return before.
TEST(VectorDifferential, ThreadsThatWalkAloneKnowTheirPlace) {
  const RungComparison::Outcome outcome = RungComparison().compare(kernel_with(R"(
      %early = icmp eq i32 %y, 1
      br i1 %early, label %out, label %begin
    begin:
      %start = getelementptr i32, ptr %in, i32 %me
      %seed = load i32, ptr %start
      %turns = and i32 %seed, 15
      br label %loop
    loop:
      %k = phi i32 [ 0, %begin ], [ %next, %loop ]
      %sum = phi i32 [ %lane, %begin ], [ %r, %loop ]
      %which = add i32 %turns, %k
      %which64 = zext i32 %which to i64
      %a = getelementptr i32, ptr %in, i64 %which64
      %index = load i32, ptr %a
      %low = and i32 %index, 63
      %low64 = zext i32 %low to i64
      %b = getelementptr i32, ptr %in, i64 %low64
      %value = load i32, ptr %b
      %r = add i32 %sum, %value
      %next = add i32 %k, 1
      %goes_on = icmp ult i32 %next, %turns
      br i1 %goes_on, label %loop, label %write)"));
  expect_same(outcome);
}

// What is kept of values that others are made of: phis take new ones meanwhile.
TEST(VectorDifferential, ValuesMadeAnewFindWhatTheyWereMadeOf) {
  // What phis take first is the value itself, and one that the value that is made anew is made of too.
  struct Values {
    const char *more, *kept;
  };
  for (const auto& [more, kept] :
       {Values{"%first = add i32 %a, 0\n%other.of.a = add i32 %triple, 0", "%with = add i32 %sum, 0"},
        {"%half = ashr i32 %a, 1\n%five = mul i32 %a, 5\n%first = sub i32 %five, %half\n%times = shl i32 %first, 2\n"
         "%other.of.a = sub i32 %a, %times",
         "%both = xor i32 %sum, %five\n%with = add i32 %both, %a"}}) {
    const std::string text = kernel_with(R"(
      %from = getelementptr i32, ptr %in, i32 %me
      %a = load i32, ptr %from
      %triple = mul i32 %a, 3
      )" + std::string(more) + R"(
      %masked = and i32 %me, 255
      %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %masked
      %beside = xor i32 %masked, 32
      %other = getelementptr i32, ptr addrspace(3) @tile, i32 %beside
      %some = and i32 %n, 3
      %turns = add i32 %some, 3
      call void @cupola.barrier(i32 0, i32 0)
      br label %head
    head:
      %i = phi i32 [ 0, %0 ], [ %more, %head ]
      %p = phi i32 [ %first, %0 ], [ %next, %head ]
      %r.before = phi i32 [ 0, %0 ], [ %r, %head ]
      %of.p = mul i32 %p, 5
      store i32 %p, ptr addrspace(3) %mine
      call void @cupola.barrier(i32 0, i32 0)
      %read = load i32, ptr addrspace(3) %other
      %next = add i32 %p, %read
      call void @cupola.barrier(i32 0, i32 0)
      %sum = add i32 %of.p, %other.of.a
      )" + kept + R"(
      %r = add i32 %with, %r.before
      %more = add i32 %i, 1
      %on = icmp ult i32 %more, %turns
      br i1 %on, label %head, label %write)") +
                             "\n@tile = internal addrspace(3) global [256 x i32] undef, align 4\n";
    for (const bool hot : {false, true})
      for (const Dim3& block : {Dim3{64}, Dim3{128}})
        EXPECT_EQ(RungComparison().compare_for_shape(text, block, hot), "") << block.x << hot;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
