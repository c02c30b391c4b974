#include "backend/cpu/build/straight_code.h"

#include "backend/cpu/build/test_program.h"

// Whose end is known to come soon. Oracle: the instructions of the text, counted by hand.

namespace cupola::cpu::build::testing {
namespace {

uint32_t most_of(const std::string& body, const std::string& declarations = "") {
  llvm::LLVMContext context;
  const auto module = parse(context, "declare i32 @cupola.tid.x()\n" + declarations +
                                         "define ptx_kernel void @k(ptr %p, i32 %n) {\n" + body + "}");
  return most_instructions(*module->getFunction("k"));
}

TEST(StraightCode, CountsWhatAThreadMayRun) {
  EXPECT_EQ(most_of("ret void"), 1u);
  EXPECT_EQ(most_of(R"(
    %t = call i32 @cupola.tid.x()
    %is_in = icmp slt i32 %t, %n
    br i1 %is_in, label %in, label %out
  in:
    %place = getelementptr i32, ptr %p, i32 %t
    store i32 %n, ptr %place
    br label %out
  out:
    ret void
  )"),
            6u + 8u);  // the store may be one for each lane
}

TEST(StraightCode, TakesDivisionsAndCallsOfLlvmForSlow) {
  EXPECT_GT(most_of("%a = udiv i32 7, %n\n store i32 %a, ptr %p\n ret void"), 10u);
  EXPECT_GT(most_of("%a = call float @llvm.exp.f32(float 1.0)\n store float %a, ptr %p\n ret void",
                    "declare float @llvm.exp.f32(float)\n"),
            10u);
}

TEST(StraightCode, KnowsNothingOfLoops) {
  EXPECT_EQ(most_of(R"(
    br label %loop
  loop:
    %i = phi i32 [ 0, %0 ], [ %next, %loop ]
    %next = add i32 %i, 1
    %again = icmp slt i32 %next, 2
    br i1 %again, label %loop, label %out
  out:
    ret void
  )"),
            0u);
}

TEST(StraightCode, KnowsNothingOfWhatWaitsOrPrints) {
  EXPECT_EQ(most_of("call void @cupola.barrier(i32 0, i32 0)\n ret void", "declare void @cupola.barrier(i32, i32)\n"),
            0u);
  EXPECT_EQ(most_of("call void @cupola.nanosleep(i32 1000000)\n ret void", "declare void @cupola.nanosleep(i32)\n"),
            0u);
  EXPECT_EQ(
      most_of("%a = call i32 @cupola.vprintf(ptr %p, ptr %p)\n ret void", "declare i32 @cupola.vprintf(ptr, ptr)\n"),
      0u);
}

TEST(StraightCode, KnowsNothingOfFunctionsThatItCalls) {
  EXPECT_EQ(most_of("call void @other(ptr %p)\n ret void", "declare void @other(ptr)\n"), 0u);
  EXPECT_EQ(most_of("call void %p()\n ret void"), 0u);
}

TEST(StraightCode, CountsWhatIsMovedAndSetWhereItsSizeIsKnown) {
  const std::string set = "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)\n";
  const uint32_t of_little = most_of("call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 16, i1 false)\n ret void", set);
  const uint32_t of_much = most_of("call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 16000, i1 false)\n ret void", set);
  EXPECT_GT(of_little, 0u);
  EXPECT_EQ(of_much - of_little, 8 * (16000u - 16) / 16);
  EXPECT_EQ(most_of("%long = zext i32 %n to i64\n"
                    "call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %long, i1 false)\n ret void",
                    set),
            0u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
