#include "backend/cpu/build/kernel_code.h"

#include <gmock/gmock.h>

#include "backend/cpu/build/kernel_unit.h"
#include "backend/cpu/build/test_program.h"

// What hot code says of itself, as `cupola explain --block` has it. That each order is made where it should be is for
// the tests of what makes it; oracle here: the kernels, each of which can run in one order only.

namespace cupola::cpu::build::testing {
namespace {

using image::BlockClass;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Of a kernel with these instructions, for blocks of 256; %i is the thread's number in the grid, %place the float at
/// %p with that number. `more`: other definitions; `target`: where the order is the processor's.
std::string report(const std::string& body, const std::string& more = "", const std::string& target = "cpu:test") {
  llvm::LLVMContext context;
  const auto built = build(parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.nctaid.x()
    declare void @cupola.barrier(i32, i32)
    declare i32 @cupola.barrier_reduce(i32, i32, i32, i32)
    )" + more + R"(
    define ptx_kernel void @k(ptr %p, ptr %q, ptr %r, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %blocks = call i32 @cupola.nctaid.x()
      %of.block = mul i32 %block, 256
      %i = add i32 %of.block, %t
      %wide = sext i32 %i to i64
      %place = getelementptr float, ptr %p, i64 %wide
      )" + body + "\n}"),
                           {.target = target, .later = true});
  EXPECT_TRUE(built) << built.error().message;
  auto unit = read_unit(context, built->kernels[0].unit);
  std::string text;
  EXPECT_TRUE(
      build_unit(std::move(*unit), {BlockClass::Rows, Dim3{256}, /*hot=*/true}, {.target = target, .report = &text}));
  return text;
}

constexpr const char* kMeet = "call void @cupola.barrier(i32 0, i32 0)\n";

/// A loop over the grid that adds up what it reads, with `behind` after it.
std::string over_grid(const std::string& behind) {
  return R"(
      %all = mul i32 %blocks, 256
      br label %head
    head:
      %at = phi i32 [ %i, %start ], [ %next, %body ]
      %sum = phi float [ 0.0, %start ], [ %more, %body ]
      %on = icmp slt i32 %at, %n
      br i1 %on, label %body, label %out
    body:
      %far = sext i32 %at to i64
      %from = getelementptr float, ptr %q, i64 %far
      %a = load float, ptr %from
      %more = fadd float %sum, %a
      %next = add i32 %at, %all
      br label %head
    out:
      store float %sum, ptr %place
      )" +
         behind + "ret void";
}

TEST(KernelCode, SaysInWhichOrderItRunsWarps) {
  const std::string store = "store float 1.0, ptr %place\n";
  EXPECT_EQ(report(store + "ret void"),
            "a warp at a time\n"
            "    blocks beside each other take turns, a row of threads of each, a warp at least\n"
            "    writes 4 bytes: a row of 32\n");
  const auto reads_each = [&](int place) {
    return report(
        formatted("%far = mul i64 %wide, {}\n%from = getelementptr float, ptr %q, i64 %far\n"
                  "%a = load float, ptr %from\nstore float %a, ptr %place\nret void",
                  place));
  };
  for (const int place : {1, 4, -1})  // with what is read asked for ahead; some places of each line; backwards
    EXPECT_THAT(reads_each(place), StartsWith("a warp at a time\n    blocks beside each other take turns")) << place;
  EXPECT_THAT(reads_each(5), Not(HasSubstr("blocks beside each other"))) << "a line for two or three lanes";
  EXPECT_THAT(report(store + kMeet + store + "ret void"), HasSubstr("\n    from barrier to barrier, each piece for one "
                                                                    "warp after the other\n"));
  const std::string ways = R"(
      %late = icmp ugt i32 %t, 31
      br i1 %late, label %a, label %b
    a:
      call void @cupola.barrier(i32 0, i32 0)
      %other = load float, ptr %q
      store float %other, ptr %place
      call void @cupola.barrier(i32 0, i32 0)
      ret void
    b:
      call void @cupola.barrier(i32 0, i32 0)
      call void @cupola.barrier(i32 0, i32 0)
      store float 2.0, ptr %place
      ret void)";
  EXPECT_THAT(report(ways), HasSubstr("\n    each warp stops at barriers"));
}

TEST(KernelCode, SaysHowItGoesOverAGrid) {
  const char* const turns = "\n    warps take turns in loops that go far in memory";
  EXPECT_THAT(report(over_grid("")), HasSubstr(std::string(turns) + ", with those of blocks beside theirs\n"));
  EXPECT_THAT(report("%r0 = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 0, i32 1)\n" + over_grid("")),
              HasSubstr(std::string(turns) + "\n"));
  EXPECT_THAT(report(over_grid(kMeet)),
              HasSubstr("\n    from barrier to barrier, each piece for the warps of blocks beside each other\n"
                        "    several turns of loops over the grid at a time\n"));
}

TEST(KernelCode, SaysWhichBlocksHaveCodeOfTheirOwn) {
  const std::string asks = R"(
      %low = icmp slt i32 %i, 1
      %high = icmp sge i32 %i, %n
      %out = or i1 %low, %high
      br i1 %out, label %over, label %inside
    inside:
      %left = getelementptr float, ptr %place, i64 -1
      %a = load float, ptr %left
      %to = getelementptr float, ptr %q, i64 %wide
      store float %a, ptr %to
      br label %over
    over:
      ret void)";
  EXPECT_EQ(report(asks),
            "a warp at a time\n"
            "    blocks that lie within the arrays in all their threads, by code that does not ask:\n"
            "      blocks beside each other take turns, a row of threads of each, a warp at least\n"
            "      reads 4 bytes: a row of 32\n"
            "      writes 4 bytes: a row of 32\n"
            "    all others:\n"
            "      blocks beside each other take turns, a row of threads of each, a warp at least\n"
            "      reads 4 bytes: a row of 32\n"
            "      writes 4 bytes: a row of 32\n");
}

TEST(KernelCode, SaysFromWhichGridsOnRowsAreReadInStep) {
  const std::string sum = R"(
      %other = getelementptr float, ptr %q, i64 %wide
      %a = load float, ptr %place
      %b = load float, ptr %other
      %c = fadd float %a, %b
      %to = getelementptr float, ptr %r, i64 %wide
      store float %c, ptr %to
      ret void)";
  const std::string text = report(sum, "", "cpu:x86_64:x86-64-v4");
  EXPECT_THAT(text, StartsWith("a warp at a time\n    in grids of "));
  EXPECT_THAT(text, HasSubstr(" blocks and more, those that lie within the arrays in all their threads"));
  EXPECT_THAT(text, HasSubstr("\n      from barrier to barrier"));
  EXPECT_THAT(text, HasSubstr("\n    all others:\n      blocks beside each other take turns"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
