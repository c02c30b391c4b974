#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <sstream>

#include "backend/cpu/build/test_program.h"
#include "metal/metal_kernels.h"

// Oracle: results worked out by hand; what the text must say, and what must be refused.

namespace cupola::metal::testing {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDeclarations = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.grid.sync() convergent
    declare i32 @cupola.laneid()
    declare void @cupola.barrier(i32, i32) convergent
    declare void @cupola.barrier_arrive(i32, i32) convergent
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32) convergent
    declare i32 @cupola.vote(i32, i32, i32) convergent
    declare i64 @cupola.clock()
    declare void @cupola.exit() noreturn
    declare void @cupola.trap() noreturn
    declare i1 @cupola.is_shared(ptr)
    declare i32 @cupola.vprintf(ptr, ptr)
    declare ptr @cupola.malloc(i64)
    declare float @llvm.ldexp.f32.i32(float, i32)
    declare half @llvm.ldexp.f16.i32(half, i32)
)";

Result<MetalKernels> make(const std::string& text, Form form = Form::Msl) {
  llvm::LLVMContext context;
  return MetalKernels::make(cpu::build::testing::parse(context, kDeclarations + text), form);
}

/// The body of `kernel void @k(ptr out, i32 n)` for one block: what each thread's word of `out` holds afterwards.
struct Finished {
  std::vector<uint32_t> words;
  std::string failure;
  image::metal::FaultRecord fault;
  std::vector<uint64_t> output;
  std::shared_ptr<MetalKernels> kernels;  ///< in whose data the texts of the output lie
};
struct Grid {
  uint32_t blocks = 1;
  bool cooperative = false;
};
Finished run_as(Form form, const std::string& body, uint32_t threads, uint32_t n, const std::string& globals,
                const Grid& grid) {
  const std::string text = globals + R"(
    define ptx_kernel void @k(ptr %out, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %t64 = zext i32 %t to i64
      %place = getelementptr i32, ptr %out, i64 %t64
      )" + body + "}";
  Result<MetalKernels> kernels = make(text, form);
  if (!kernels) return {{}, kernels.error().message, {}, {}, {}};
  Finished made{std::vector<uint32_t>(grid.blocks * threads), {}, {}, {}, {}};
  struct {
    uint64_t out;
    uint32_t n;
  } parameters{MetalKernels::host(made.words.data()), n};
  const MetalKernels::Outcome outcome = kernels->run(
      0, {grid.blocks}, {threads}, std::as_bytes(std::span(&parameters, 1)).first(12), 0, grid.cooperative);
  if (!outcome.result) made.failure = outcome.result.error().message;
  made.fault = outcome.fault;
  made.output = outcome.output;
  made.kernels = std::make_shared<MetalKernels>(std::move(*kernels));
  return made;
}

/// How many loops the text has around each call of `function`; loops are indented by two spaces a step.
std::vector<int> loops_around(const std::string& text, const std::string& function) {
  std::vector<int> found;
  std::vector<size_t> open;
  std::istringstream lines(text.substr(text.find("\nkernel void")));
  for (std::string line; std::getline(lines, line);) {
    const size_t depth = line.find_first_not_of(' ');
    while (!open.empty() && depth <= open.back()) open.pop_back();
    if (line.find("for (;;) {") != std::string::npos) open.push_back(depth);
    if (line.find(" " + function + "(") != std::string::npos) found.push_back(static_cast<int>(open.size()));
  }
  return found;
}

/// As MSL; AIR must do the same.
Finished run(const std::string& body, uint32_t threads, uint32_t n = 0, const std::string& globals = "",
             const Grid& grid = {}) {
  const Finished air = run_as(Form::Air, body, threads, n, globals, grid);
  Finished msl = run_as(Form::Msl, body, threads, n, globals, grid);
  EXPECT_EQ(air.failure.empty(), msl.failure.empty()) << "as AIR: " << air.failure;
  EXPECT_EQ(air.words, msl.words);
  EXPECT_EQ(air.fault.kind, msl.fault.kind);
  EXPECT_THAT(air.fault.thread, ElementsAreArray(msl.fault.thread));
  EXPECT_EQ(air.output.empty(), msl.output.empty());
  if (!air.output.empty()) EXPECT_EQ(air.output[0], msl.output[0]);
  return msl;
}

TEST(Msl, APointerOfSeveralMemoriesGoesToTheRightOne) {
  const Finished done = run(R"(
      %mine = alloca i32
      store i32 70, ptr %mine
      %shared = addrspacecast ptr addrspace(3) @s to ptr
      %odd = trunc i32 %t to i1
      %first = icmp ult i32 %t, 2
      %a = select i1 %odd, ptr %mine, ptr %place
      %b = select i1 %first, ptr %a, ptr %shared
      store i32 5, ptr %b
      %own = load i32, ptr %mine
      call void @cupola.barrier(i32 0, i32 0)
      %theirs = load i32, ptr %shared
      %both = mul i32 %theirs, 1000
      %sum = add i32 %own, %both
      %there = load i32, ptr %place
      %all = add i32 %sum, %there
      store i32 %all, ptr %place
      ret void)",
                            4, 0, "@s = internal addrspace(3) global i32 undef");
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, ElementsAre(5075, 5005, 5070, 5070));
}

TEST(Msl, ASharedPointerIsNeverNull) {
  const Finished done = run(R"(
      %shared = addrspacecast ptr addrspace(3) @s to ptr
      %some = icmp eq i32 %t, 0
      %p = select i1 %some, ptr %shared, ptr null
      %is = icmp ne ptr %p, null
      %also = icmp ne ptr %shared, null
      %window = call i1 @cupola.is_shared(ptr %p)
      %x = zext i1 %is to i32
      %y = zext i1 %also to i32
      %z = zext i1 %window to i32
      %y2 = mul i32 %y, 10
      %z2 = mul i32 %z, 100
      %xy = add i32 %x, %y2
      %xyz = add i32 %xy, %z2
      store i32 %xyz, ptr %place
      ret void)",
                            2, 0, "@s = internal addrspace(3) global i32 undef");
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, ElementsAre(111, 10));
}

// The address of the word is one of the calls' constants once the function is part of its caller.
TEST(Msl, SharedMemoryThatAnInlinedFunctionIndexesByAConstantIsFound) {
  const Finished done = run(R"(
      call void @count(i64 3)
      call void @cupola.barrier(i32 0, i32 0)
      %word = getelementptr i32, ptr addrspace(3) @s, i64 3
      %sum = load i32, ptr addrspace(3) %word
      store i32 %sum, ptr %place
      ret void)",
                            8, 0, R"(
    @s = internal addrspace(3) global [8 x i32] undef
    define void @count(i64 %i) {
      %shared = addrspacecast ptr addrspace(3) @s to ptr
      %word = getelementptr i32, ptr %shared, i64 %i
      %t = call i32 @cupola.tid.x()
      %first = icmp eq i32 %t, 0
      br i1 %first, label %begin, label %on
    begin:
      store i32 100, ptr %word
      br label %on
    on:
      call void @cupola.barrier(i32 0, i32 0)
      %before = atomicrmw add ptr %word, i32 1 monotonic
      ret void
    })");
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, Each(108));
}

TEST(Msl, ThreadsThatReturnedAreNotWaitedFor) {
  const Finished done = run(R"(
      %gone = icmp uge i32 %t, %n
      br i1 %gone, label %over, label %stay
    stay:
      %odd = and i32 %t, 1
      %count = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 %odd)
      %all = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 1, i32 1)
      %r = mul i32 %all, 100
      %s = add i32 %r, %count
      store i32 %s, ptr %place
      br label %over
    over:
      ret void)",
                            64, 40);
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(loops_around(done.kernels->text(), "meet"), ElementsAre(1));
  EXPECT_THAT(std::span(done.words).first(40), Each(120));
  EXPECT_THAT(std::span(done.words).subspan(40), Each(0));
}

TEST(Msl, ThreadsMeetAtDifferentBarriers) {
  const Finished done = run(R"(
      %half = icmp ult i32 %t, %n
      br i1 %half, label %left, label %right
    left:
      %l = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)
      br label %on
    right:
      %r = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 0)
      br label %on
    on:
      %count = phi i32 [ %l, %left ], [ %r, %right ]
      store i32 %count, ptr %place
      ret void)",
                            48, 17);
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, Each(17));
}

// Each round every thread reads what the thread `n` behind it in the grid wrote in the round before. Its number in the
// grid and the round come back from a variable whose address is a number, a bit, a word of shared memory and an array.
const std::string kRounds = R"(
      %array = alloca [40 x i32]
      %round = alloca i32
      %b = call i32 @cupola.ctaid.x()
      %base = mul i32 %b, 24
      %me = add i32 %base, %t
      %me64 = zext i32 %me to i64
      %mine = getelementptr i32, ptr %out, i64 %me64
      %gone = icmp eq i32 %me, 50
      store i32 %me, ptr %mine
      br i1 %gone, label %over, label %begin
    begin:
      store i32 0, ptr %round
      %number = ptrtoint ptr %round to i64
      %slot = getelementptr [40 x i32], ptr %array, i64 0, i64 %t64
      store i32 %me, ptr %slot
      %word = getelementptr [24 x i32], ptr addrspace(3) @s, i64 0, i64 %t64
      store i32 %me, ptr addrspace(3) %word
      %odd = trunc i32 %me to i1
      %far = add i32 %me, %n
      %from = urem i32 %far, 96
      %from64 = zext i32 %from to i64
      %other = getelementptr i32, ptr %out, i64 %from64
      br label %loop
    loop:
      call void @cupola.grid.sync()
      %theirs = load i32, ptr %other
      %all = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)
      call void @cupola.grid.sync()
      %there = inttoptr i64 %number to ptr
      %before = load i32, ptr %there
      %now = add i32 %before, 1
      store i32 %now, ptr %there
      %a = load i32, ptr %slot
      %w = load i32, ptr addrspace(3) %word
      %x = add i32 %a, %w
      %y = add i32 %x, %theirs
      %z = add i32 %y, %all
      %bit = zext i1 %odd to i32
      %v = add i32 %z, %bit
      store i32 %v, ptr %mine
      %more = icmp ult i32 %now, 3
      br i1 %more, label %loop, label %over
    over:
      ret void)";
const std::string kRoundsMemory = "@s = internal addrspace(3) global [24 x i32] undef";

TEST(Msl, AGridMeetsAndGoesOnWhereItWas) {
  const Finished done = run(kRounds, 24, 29, kRoundsMemory, {.blocks = 4, .cooperative = true});
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, 0u);
  std::vector<uint32_t> expected(96);
  for (uint32_t i = 0; i < 96; ++i) expected[i] = i;
  for (int round = 0; round < 3; ++round) {
    const std::vector<uint32_t> before = expected;
    for (uint32_t i = 0; i < 96; ++i)
      if (i != 50) expected[i] = 2 * i + before[(i + 29) % 96] + (i / 24 == 2 ? 23 : 24) + i % 2;
  }
  EXPECT_EQ(done.words, expected);
  EXPECT_THAT(loops_around(done.kernels->text(), "meet"), ElementsAre(1));  // some threads in another loop never meet
}

TEST(Msl, AGridBarrierOfALaunchThatIsNotCooperativeIsAFault) {
  const Finished done = run(kRounds, 24, 29, kRoundsMemory, {.blocks = 4});
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, static_cast<uint32_t>(image::metal::Fault::Grid));
}

// Some of a block's threads pass a barrier of the block while others wait for the grid.
TEST(Msl, ThreadsAtAGridBarrierWaitForThoseOfTheirBlockAtOthers) {
  const Finished done = run(R"(
      %half = icmp ult i32 %t, %n
      br i1 %half, label %left, label %right
    left:
      %l = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)
      %m = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 %l)
      br label %meet
    right:
      br label %meet
    meet:
      %count = phi i32 [ %m, %left ], [ 7, %right ]
      store i32 %count, ptr %place
      call void @cupola.grid.sync()
      %first = load i32, ptr %out
      %sum = add i32 %first, %count
      call void @cupola.grid.sync()
      store i32 %sum, ptr %place
      ret void)",
                            48, 17, "", {.cooperative = true});
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(std::span(done.words).first(17), Each(2 * 17 * 17));
  EXPECT_THAT(std::span(done.words).subspan(17), Each(17 * 17 + 7));
}

// 32 threads produce and 64 consume, in rounds: the producers wait at barrier 1 + n for what they overwrite, and arrive
// at barrier n without waiting. Four more meet at a barrier of theirs, whose number only they know, and count
// themselves.
TEST(Msl, PartsOfABlockMeetAtBarriersOfTheirOwn) {
  const Finished done = run(R"(
      %n1 = add i32 %n, 1
      %producer = icmp ult i32 %t, 32
      br i1 %producer, label %produce, label %other
    produce:
      %i = phi i32 [ 0, %0 ], [ %i1, %produce ]
      %value = mul i32 %i, 100
      %sum = add i32 %value, %t
      %to = getelementptr [32 x i32], ptr addrspace(3) @s, i64 0, i64 %t64
      store i32 %sum, ptr addrspace(3) %to
      call void @cupola.barrier_arrive(i32 %n, i32 96)
      call void @cupola.barrier(i32 %n1, i32 96)
      %i1 = add i32 %i, 1
      %again = icmp ult i32 %i1, 5
      br i1 %again, label %produce, label %over
    other:
      %consumer = icmp ult i32 %t, 96
      br i1 %consumer, label %consume, label %rest
    consume:
      %j = phi i32 [ 0, %other ], [ %j1, %consume ]
      %had = phi i32 [ 0, %other ], [ %has, %consume ]
      call void @cupola.barrier(i32 %n, i32 96)
      %place32 = and i32 %t, 31
      %place64 = zext i32 %place32 to i64
      %from = getelementptr [32 x i32], ptr addrspace(3) @s, i64 0, i64 %place64
      %got = load i32, ptr addrspace(3) %from
      %has = add i32 %had, %got
      call void @cupola.barrier_arrive(i32 %n1, i32 96)
      %j1 = add i32 %j, 1
      %more = icmp ult i32 %j1, 5
      br i1 %more, label %consume, label %consumed
    consumed:
      store i32 %has, ptr %place
      br label %over
    rest:
      %odd = and i32 %t, 1
      %count = call i32 @cupola.barrier_reduce(i32 15, i32 4, i32 0, i32 %odd)
      %all = call i32 @cupola.barrier_reduce(i32 15, i32 4, i32 1, i32 1)
      %ten = mul i32 %all, 10
      %both = add i32 %ten, %count
      store i32 %both, ptr %place
      br label %over
    over:
      call void @cupola.barrier(i32 0, i32 0)
      ret void)",
                            100, 2, "@s = internal addrspace(3) global [32 x i32] undef");
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, 0u);
  for (uint32_t t = 32; t < 96; ++t) EXPECT_EQ(done.words[t], 1000 + 5 * (t % 32)) << t;
  EXPECT_THAT(std::span(done.words).subspan(96), Each(12));
  ASSERT_TRUE(done.kernels);
  EXPECT_THAT(loops_around(done.kernels->text(), "meet_at"), ElementsAre(1));
}

TEST(Msl, ABlockWhoseThreadsAllWaitForOthersIsAFault) {
  const Finished done = run(R"(
      %half = icmp ult i32 %t, %n
      %number = select i1 %half, i32 3, i32 4
      call void @cupola.barrier(i32 %number, i32 64)
      store i32 1, ptr %place
      ret void)",
                            64, 32);
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, static_cast<uint32_t>(image::metal::Fault::Deadlock));
  EXPECT_THAT(done.words, Each(0));
}

TEST(Msl, PartsOfABlockMeetBetweenGridBarriers) {
  const Finished done = run(R"(
      %b = call i32 @cupola.ctaid.x()
      %base = mul i32 %b, 64
      %me = add i32 %base, %t
      %me64 = zext i32 %me to i64
      %mine = getelementptr i32, ptr %out, i64 %me64
      %first = icmp ult i32 %t, 32
      br i1 %first, label %part, label %meet
    part:
      %count = call i32 @cupola.barrier_reduce(i32 1, i32 32, i32 0, i32 1)
      call void @cupola.grid.sync()
      %again = call i32 @cupola.barrier_reduce(i32 1, i32 32, i32 0, i32 1)
      %sum = add i32 %count, %again
      br label %on
    meet:
      call void @cupola.grid.sync()
      br label %on
    on:
      %v = phi i32 [ %sum, %part ], [ 5, %meet ]
      store i32 %v, ptr %mine
      ret void)",
                            64, 0, "", {.blocks = 2, .cooperative = true});
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, 0u);
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(done.words[i], i % 64 < 32 ? 64u : 5u) << i;
}

// The first thread of a block waits for the next block's, the last block's for none.
const std::string kWaitForNextBlock = R"(
      %b = call i32 @cupola.ctaid.x()
      %next = add i32 %b, 1
      %next64 = zext i32 %next to i64
      %flag = getelementptr i32, ptr %out, i64 %next64
      %first = icmp eq i32 %t, 0
      br i1 %first, label %look, label %over
    look:
      %last = icmp eq i32 %b, %n
      br i1 %last, label %go, label %wait
    wait:
      %seen = load atomic i32, ptr %flag syncscope("device") monotonic, align 4
      %ready = icmp ne i32 %seen, 0
      br i1 %ready, label %go, label %wait
    go:
      %b64 = zext i32 %b to i64
      %mine = getelementptr i32, ptr %out, i64 %b64
      %value = add i32 %b, 10
      store atomic i32 %value, ptr %mine syncscope("device") monotonic, align 4
      br label %over
    over:
      ret void)";

TEST(Msl, BlocksRunAtTheSameTime) {
  const Finished done = run(kWaitForNextBlock, 40, 4, "", {.blocks = 5});
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(std::span(done.words).first(6), ElementsAre(10, 11, 12, 13, 14, 0));
}

TEST(Msl, AGridThatNeverGetsOnIsEnded) {
  const Finished done = run(kWaitForNextBlock, 40, 99, "", {.blocks = 5});
  EXPECT_THAT(done.failure, HasSubstr("no thread got on"));
}

TEST(Msl, ATrapIsRecordedWithItsThread) {
  const Finished done = run(R"(
      %bad = icmp eq i32 %t, 5
      br i1 %bad, label %stop, label %on
    stop:
      call void @cupola.trap()
      unreachable
    on:
      store i32 1, ptr %place
      ret void)",
                            8);
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, static_cast<uint32_t>(image::metal::Fault::Trap));
  EXPECT_EQ(done.fault.thread[0], 5u);
  EXPECT_THAT(done.words, ElementsAre(1, 1, 1, 1, 1, 0, 1, 1));
}

// Each jump out of two loops at once, and on with the outer one, leaves the sum where it was.
TEST(Msl, JumpsLeaveSeveralLoopsAtOnce) {
  const Finished done = run(R"(
      br label %outer
    outer:
      %i = phi i32 [ 0, %0 ], [ %i1, %next ]
      %s = phi i32 [ 0, %0 ], [ %u, %next ]
      %more = icmp ult i32 %i, 10
      br i1 %more, label %inner, label %done
    inner:
      %j = phi i32 [ 0, %outer ], [ %j1, %again ]
      %u = phi i32 [ %s, %outer ], [ %v, %again ]
      %stop = icmp eq i32 %u, %n
      br i1 %stop, label %done, label %test
    test:
      %skip = icmp eq i32 %j, %t
      br i1 %skip, label %next, label %again
    again:
      %v = add i32 %u, 1
      %j1 = add i32 %j, 1
      br label %inner
    next:
      %i1 = add i32 %i, 1
      br label %outer
    done:
      %r = phi i32 [ %s, %outer ], [ %u, %inner ]
      store i32 %r, ptr %place
      ret void)",
                            6, 33);
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, ElementsAre(0, 10, 20, 30, 33, 33));
}

TEST(Msl, AtomicsOfEverySizeCountEachThread) {
  const Finished done = run(R"(
      %a32 = getelementptr i8, ptr %out, i64 0
      %a64 = getelementptr i8, ptr %out, i64 8
      %a16 = getelementptr i8, ptr %out, i64 18
      %a8 = getelementptr i8, ptr %out, i64 21
      %af = getelementptr i8, ptr %out, i64 24
      %x = atomicrmw add ptr %a32, i32 3 monotonic
      %y = atomicrmw add ptr %a64, i64 4294967297 monotonic
      %z = atomicrmw add ptr %a16, i16 5 monotonic
      %w = atomicrmw umax ptr %a8, i8 200 monotonic
      %v = atomicrmw fadd ptr %af, float 0.5 monotonic
      ret void)",
                            64);
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.words[0], 192u);
  EXPECT_EQ(done.words[2], 64u);
  EXPECT_EQ(done.words[3], 64u);
  EXPECT_EQ(done.words[4], 320u << 16);
  EXPECT_EQ(done.words[5], 200u << 8);
  EXPECT_EQ(done.words[6], 0x42000000u);  // 32.0
}

// Oracle: std::ldexp, which rounds once.
TEST(Msl, PowersOfTwoRoundOnce) {
  constexpr uint32_t kThreads = 512;
  const Finished done = run(R"(
      %bits = mul i32 %t, 2654435761
      %x = bitcast i32 %bits to float
      %spread = mul i32 %t, 37
      %part = urem i32 %spread, 620
      %power = sub i32 %part, 310
      %r = call float @llvm.ldexp.f32.i32(float %x, i32 %power)
      %small = trunc i32 %bits to i16
      %h = bitcast i16 %small to half
      %few = sdiv i32 %power, 8
      %s = call half @llvm.ldexp.f16.i32(half %h, i32 %few)
      %rounded = bitcast half %s to i16
      %low = zext i16 %rounded to i32
      %high = bitcast float %r to i32
      %odd = trunc i32 %t to i1
      %word = select i1 %odd, i32 %low, i32 %high
      store i32 %word, ptr %place
      ret void)",
                            kThreads);
  EXPECT_EQ(done.failure, "");
  uint32_t numbers = 0;
  for (uint32_t t = 0; t < kThreads; ++t) {
    const uint32_t bits = t * 2654435761u;
    const int power = static_cast<int>(t * 37 % 620) - 310;
    const float whole = std::ldexp(std::bit_cast<float>(bits), power);
    const auto half = static_cast<_Float16>(
        std::ldexp(static_cast<double>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits))), power / 8));
    if (t % 2 ? half != half : whole != whole) continue;
    ++numbers;
    EXPECT_EQ(done.words[t], t % 2 ? std::bit_cast<uint16_t>(half) : std::bit_cast<uint32_t>(whole)) << t;
  }
  EXPECT_GT(numbers, kThreads / 2);
}

TEST(Msl, PrintfLeavesItsValuesForTheHost) {
  const Finished done = run(R"(
      %values = alloca { i32, i64 }
      %second = getelementptr i8, ptr %values, i64 8
      store i32 %t, ptr %values
      store i64 1311768467463790320, ptr %second
      %count = call i32 @cupola.vprintf(ptr @format, ptr %values)
      store i32 %count, ptr %place
      ret void)",
                            9, 0, "@format = private constant [7 x i8] c\"%d %lx\\00\"");
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, Each(2));
  const auto& header = *reinterpret_cast<const image::metal::OutputHeader*>(done.output.data());
  EXPECT_EQ(header.used, 9u * 32);  // 256 bytes have room for 8 of them
  for (uint32_t i = 0; i < 8; ++i) {
    const uint64_t* record = done.output.data() + 2 + i * 4;
    EXPECT_STREQ(reinterpret_cast<const char*>(record[0] + kArena), "%d %lx");
    EXPECT_EQ(record[1], 16u);
    EXPECT_EQ(static_cast<uint32_t>(record[2]), i);
    EXPECT_EQ(record[3], 0x123456789abcdef0u);
  }
}

TEST(Msl, OnlyAKernelsNameFollowsItsName) {
  const std::string body = "(ptr %p) {\n %t = call i32 @cupola.tid.x()\n store i32 %t, ptr %p\n ret void\n}";
  const auto one = make("define ptx_kernel void @one" + body),
             matrixMul = make("define ptx_kernel void @matrixMul" + body);
  ASSERT_TRUE(one && matrixMul);
  std::string renamed = one->text();
  const size_t at = renamed.find("kernel_one");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(renamed.replace(at, 10, "kernel_matrixMul"), matrixMul->text());
}

TEST(Msl, NamesThatMslHasNotOrHasForItselfAreTranslated) {
  const auto kernels =
      make("define ptx_kernel void @\"a$b.c\"() {\n ret void\n}\ndefine ptx_kernel void @float4() {\n ret void\n}");
  ASSERT_TRUE(kernels) << kernels.error().message;
  EXPECT_THAT(kernels->text(), HasSubstr("kernel void kernel_a_24_b_2e_c("));
  const auto alike =
      make("define ptx_kernel void @\"a$\"() {\n ret void\n}\ndefine ptx_kernel void @a_24_() {\n ret void\n}");
  ASSERT_TRUE(alike) << alike.error().message;
  EXPECT_THAT(alike->text(), HasSubstr("kernel void kernel_a_24_("));
  EXPECT_THAT(alike->text(), HasSubstr("kernel void kernel_a_24__2("));
}

TEST(Msl, WhatMetalLacksIsRefusedWithItsPlace) {
  const Finished clock =
      run("%c = call i64 @cupola.clock()\n %d = trunc i64 %c to i32\n store i32 %d, ptr %place\n ret void", 1);
  EXPECT_EQ(clock.failure, "metal: function 'k': Metal has no clock that a kernel can read");
  const Finished again =
      run("call void @f(i32 %n)\n ret void", 1, 0, "define void @f(i32 %n) {\n call void @f(i32 %n)\n ret void\n}");
  EXPECT_THAT(again.failure, HasSubstr("function 'f' calls itself"));
  const Finished heap = run("%p = call ptr @cupola.malloc(i64 4)\n store ptr %p, ptr %place\n ret void", 1);
  EXPECT_THAT(heap.failure, HasSubstr("can neither allocate memory, launch kernels nor ask the runtime: do it on the"));
}

const std::string kFunctions = R"(
    define i32 @add(i32 %a, i32 %b) {
      %r = add i32 %a, %b
      ret i32 %r
    }
    define i32 @subtract(i32 %a, i32 %b) {
      %r = sub i32 %a, %b
      ret i32 %r
    }
    define i32 @meet(i32 %a, i32 %b) {
      %count = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)
      %r = add i32 %count, %a
      ret i32 %r
    }
    define i64 @wide(i64 %a) {
      ret i64 %a
    }
    @table = addrspace(1) global [4 x ptr] [ptr @add, ptr @subtract, ptr @meet, ptr @wide]
)";

const std::string kCallFromTable = R"(
      %which = urem i32 %t, %n
      %index = zext i32 %which to i64
      %entry = getelementptr ptr, ptr addrspace(1) @table, i64 %index
      %function = load ptr, ptr addrspace(1) %entry
)";

// The threads of one warp call different functions, of which one has a barrier that only a third of the block comes to.
TEST(Msl, ACallThroughAPointerIsOneOfTheFunctionThereInALoopToo) {
  const Finished done = run(kCallFromTable + R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %i1, %loop ]
      %s = phi i32 [ %t, %0 ], [ %r, %loop ]
      %r = call i32 %function(i32 %s, i32 100)
      %i1 = add i32 %i, 1
      %more = icmp ult i32 %i1, 3
      br i1 %more, label %loop, label %done
    done:
      store i32 %r, ptr %place
      ret void)",
                            45, 3, kFunctions);
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, 0u);
  std::vector<uint32_t> expected;
  for (uint32_t t = 0; t < 45; ++t) expected.push_back(t % 3 == 0 ? t + 300 : t % 3 == 1 ? t - 300 : t + 45);
  EXPECT_EQ(done.words, expected);
}

TEST(Msl, ACallOfWhatCannotBeCalledSoEndsTheThread) {
  const Finished done = run(kCallFromTable + R"(
      %r = call i32 %function(i32 %t, i32 100)
      store i32 %r, ptr %place
      ret void)",
                            4, 4, kFunctions);
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, static_cast<uint32_t>(image::metal::Fault::Call));
  EXPECT_EQ(done.fault.thread[0], 3u);  // @wide takes and gives other types
  EXPECT_THAT(done.fault.texts[0], Not(0u));
  EXPECT_EQ(done.words[3], 0u);
  const Finished null =
      run("%r = call i32 null(i32 %t, i32 1)\n store i32 %r, ptr %place\n ret void", 1, 0, kFunctions);
  EXPECT_EQ(null.fault.kind, static_cast<uint32_t>(image::metal::Fault::Call));
  EXPECT_EQ(null.fault.texts[0], 0u);
}

TEST(Msl, AFunctionThatCallsThroughAPointerStaysAFunction) {
  const Finished done = run(kCallFromTable + R"(
      %r = call i32 @twice(ptr %function, i32 %t)
      %s = call i32 @twice(ptr %function, i32 %r)
      store i32 %s, ptr %place
      ret void)",
                            4, 4, R"(
    define i32 @twice(ptr %f, i32 %a) {
      %b = call i32 %f(i32 %a, i32 10)
      %c = call i32 %f(i32 %b, i32 10)
      ret i32 %c
    }
    define i32 @add(i32 %a, i32 %b) {
      %r = add i32 %a, %b
      ret i32 %r
    }
    define i32 @subtract(i32 %a, i32 %b) {
      %r = sub i32 %a, %b
      ret i32 %r
    }
    @table = addrspace(1) global [4 x ptr] [ptr @add, ptr @subtract, ptr @add, ptr null])");
  EXPECT_EQ(done.failure, "");
  EXPECT_EQ(done.fault.kind, static_cast<uint32_t>(image::metal::Fault::Call));
  EXPECT_EQ(done.fault.thread[0], 3u);
  EXPECT_THAT(std::span(done.words).first(3), ElementsAre(40, 0xffffffd9, 42));
  ASSERT_TRUE(done.kernels);
  EXPECT_THAT(done.kernels->text(), HasSubstr("uint function_twice("));
}

TEST(Msl, PointersThatSeveralFunctionsTakeLieWhereTheyLie) {
  const Finished done = run(R"(
      %mine = alloca i32
      store i32 7, ptr %mine
      %odd = trunc i32 %t to i1
      %function = select i1 %odd, ptr @first, ptr @second
      %where = select i1 %odd, ptr %mine, ptr %place
      store i32 %t, ptr %place
      %r = call ptr %function(ptr %where)
      %value = load i32, ptr %r
      store i32 %value, ptr %place
      ret void)",
                            4, 0, R"(
    define ptr @first(ptr %p) {
      %v = load i32, ptr %p
      %w = mul i32 %v, 3
      store i32 %w, ptr %p
      ret ptr %p
    }
    define ptr @second(ptr %p) {
      %v = load i32, ptr %p
      %w = add i32 %v, 50
      store i32 %w, ptr %p
      ret ptr %p
    })");
  EXPECT_EQ(done.failure, "");
  EXPECT_THAT(done.words, ElementsAre(50, 21, 52, 21));
}

TEST(Msl, AFunctionThatMayCallItselfThroughAPointerIsRefused) {
  const std::string functions = R"(
    define i32 @down(ptr %f, i32 %n) {
      %m = sub i32 %n, 1
      %r = call i32 %f(ptr %f, i32 %m)
      ret i32 %r
    })";
  const Finished done = run("%r = call i32 @down(ptr @down, i32 %n)\n ret void", 1, 0, functions);
  EXPECT_EQ(done.failure, "metal: function 'down' may call itself through a pointer, which Metal does not allow");
}

TEST(Msl, FencesAndWideAtomicsNeedMsl32) {
  const auto plain = make("define ptx_kernel void @k(ptr %p) {\n store i32 1, ptr %p\n ret void\n}");
  const auto fence = make(
      "define ptx_kernel void @k(ptr %p) {\n fence syncscope(\"device\") acq_rel\n store i32 1, ptr %p\n ret void\n}");
  ASSERT_TRUE(plain && fence);
  EXPECT_EQ(plain->version(), 30u);
  EXPECT_EQ(fence->version(), 32u);
}

}  // namespace
}  // namespace cupola::metal::testing
