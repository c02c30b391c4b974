#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>

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
    declare i32 @cupola.laneid()
    declare void @cupola.barrier(i32, i32) convergent
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32) convergent
    declare i32 @cupola.vote(i32, i32, i32) convergent
    declare i64 @cupola.clock()
    declare void @cupola.exit() noreturn
    declare void @cupola.trap() noreturn
    declare i1 @cupola.is_shared(ptr)
    declare i32 @cupola.vprintf(ptr, ptr)
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
Finished run_as(Form form, const std::string& body, uint32_t threads, uint32_t n, const std::string& globals) {
  const std::string text = globals + R"(
    define ptx_kernel void @k(ptr %out, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %t64 = zext i32 %t to i64
      %place = getelementptr i32, ptr %out, i64 %t64
      )" + body + "}";
  Result<MetalKernels> kernels = make(text, form);
  if (!kernels) return {{}, kernels.error().message, {}, {}, {}};
  Finished made{std::vector<uint32_t>(threads), {}, {}, {}, {}};
  struct {
    uint64_t out;
    uint32_t n;
  } parameters{MetalKernels::host(made.words.data()), n};
  const MetalKernels::Outcome outcome =
      kernels->run(0, {1}, {threads}, std::as_bytes(std::span(&parameters, 1)).first(12));
  if (!outcome.result) made.failure = outcome.result.error().message;
  made.fault = outcome.fault;
  made.output = outcome.output;
  made.kernels = std::make_shared<MetalKernels>(std::move(*kernels));
  return made;
}

/// As MSL; AIR must do the same.
Finished run(const std::string& body, uint32_t threads, uint32_t n = 0, const std::string& globals = "") {
  const Finished air = run_as(Form::Air, body, threads, n, globals);
  Finished msl = run_as(Form::Msl, body, threads, n, globals);
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
  const Finished part = run("call void @cupola.barrier(i32 1, i32 64)\n ret void", 1);
  EXPECT_THAT(part.failure, HasSubstr("barriers other than __syncthreads()"));
  const Finished again =
      run("call void @f(i32 %n)\n ret void", 1, 0, "define void @f(i32 %n) {\n call void @f(i32 %n)\n ret void\n}");
  EXPECT_THAT(again.failure, HasSubstr("function 'f' calls itself"));
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
