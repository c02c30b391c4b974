#include "backend/cpu/build/output_turns.h"

#include <gmock/gmock.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Verifier.h>

#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/vector_steps.h"

// For which outputs the turns are counted, and from what. That they are right is seen in what StreamingStores do.

namespace cupola::cpu::build::testing {
namespace {

/// The function that counts the turns in which a thread, %t, writes on %out, as text; empty: there is none. `code`:
/// from the entry to the jump to %over.
std::string counting_in(const std::string& code) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.nctaid.x()
    define void @k(ptr %context, ptr %out, ptr %in, i64 %plane, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      )" + code + R"(
    over:
      ret void
    })");
  if (!module) return "does not parse";
  llvm::Function& kernel = *module->getFunction("k");
  const size_t size = kernel.getInstructionCount();
  llvm::DominatorTree dominators(kernel);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(kernel, loops, dominators);
  const auto turns = turns_of_outputs(evolution, loops);
  EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs()));
  EXPECT_EQ(kernel.getInstructionCount(), size) << "something is left in the kernel";
  if (turns.empty()) return "";
  EXPECT_EQ(turns.size(), 1u);
  EXPECT_EQ(turns[0].output, 1u) << "%out";
  std::string text;
  llvm::raw_string_ostream out(text);
  out << *turns[0].counts;
  return text;
}

/// The same in a loop whose steps do not wrap.
std::string counting(const std::string& before, const std::string& turn, const std::string& goes_on) {
  return counting_in(R"(
      %wide = zext i32 %t to i64
      %first = getelementptr float, ptr %out, i64 %wide
      )" + before + R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %start ], [ %next, %loop ]
      %from = phi i64 [ 0, %start ], [ %further, %loop ]
      %further = add i64 %from, %plane
      %place = getelementptr i8, ptr %first, i64 %from
      %next = add nsw i32 %i, 1
      )" + turn + R"(
      %go = icmp slt i32 %next, )" +
                     goes_on + R"(
      br i1 %go, label %loop, label %over)");
}

constexpr const char* kStore = "store float 1.0, ptr %place\n";

TEST(OutputTurns, AreCountedWhereEachTurnStoresElsewhere) {
  EXPECT_THAT(counting("", kStore, "%n"), ::testing::AllOf(::testing::HasSubstr("i32 %4"),  // %n, its fifth argument
                                                           ::testing::HasSubstr("umin.i64")));
  EXPECT_THAT(counting("", kStore, "1000"), ::testing::HasSubstr("ret i64 1000"));
  EXPECT_EQ(counting("", "store float 1.0, ptr %first\n", "%n"), "") << "always at one place";
  EXPECT_EQ(counting("", "%a = load float, ptr %place\n", "%n"), "");
}

/// Of a loop as `for (int i = threadIdx.x; i < n; i += blockDim.x)` is: of steps that may wrap.
std::string counting_steps(const std::string& goes_on, const std::string& step = "add i32 %i, %width") {
  return counting_in(R"(
      %width = call i32 @cupola.ntid.x()
      br label %ask
    ask:
      %i = phi i32 [ %t, %start ], [ %next, %loop ]
      )" + goes_on + R"(
      br i1 %go, label %loop, label %over
    loop:
      %from = zext i32 %i to i64
      %place = getelementptr float, ptr %out, i64 %from
      store float 1.0, ptr %place
      %next = )" + step +
                     R"(
      br label %ask)");
}

TEST(OutputTurns, AreCountedWhereStepsMayWrap) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  EXPECT_THAT(counting_steps("%go = icmp slt i32 %i, %n"), AllOf(HasSubstr("udiv i32"), HasSubstr("smax.i32")));
  EXPECT_THAT(counting_steps("%go = icmp ugt i32 %n, %i"), AllOf(HasSubstr("udiv i32"), HasSubstr("umin.i32(i32 %4")));
  EXPECT_THAT(counting_steps("%go = icmp slt i32 %i, 2048", "add i32 %i, 256"), HasSubstr("ret i64 8"));
  EXPECT_EQ(counting_steps("%m = load i32, ptr %in\n%go = icmp slt i32 %i, %m"), "");
  EXPECT_EQ(counting_steps("%m = load i32, ptr %in\n%go = icmp slt i32 %m, %n"), "") << "nothing steps";
}

// Of places in memory there is no number of steps that can be told.
TEST(OutputTurns, AreNotCountedWherePointersAreCompared) {
  EXPECT_EQ(counting_in(R"(
      %width = call i32 @cupola.ntid.x()
      %wide = zext i32 %width to i64
      %many = sext i32 %n to i64
      %end = getelementptr float, ptr %in, i64 %many
      br label %ask
    ask:
      %q = phi ptr [ %in, %start ], [ %further, %loop ]
      %i = phi i32 [ %t, %start ], [ %next, %loop ]
      %go = icmp ult ptr %q, %end
      br i1 %go, label %loop, label %over
    loop:
      %from = zext i32 %i to i64
      %place = getelementptr float, ptr %out, i64 %from
      store float 1.0, ptr %place
      %next = add i32 %i, %width
      %further = getelementptr float, ptr %q, i64 %wide
      br label %ask)"),
            "");
}

TEST(OutputTurns, AreThoseOfTheFirstThread) {
  EXPECT_THAT(counting("%left = sub i32 1000, %t", kStore, "%left"), ::testing::HasSubstr("ret i64 1000"));
}

TEST(OutputTurns, MayDependOnTheLaunchesSizes) {
  EXPECT_THAT(counting("%blocks = call i32 @cupola.nctaid.x()", kStore, "%blocks"),
              ::testing::HasSubstr("call i32 @cupola.nctaid.x()"));
}

TEST(OutputTurns, AreNotCountedWhereMemorySaysThem) {
  EXPECT_EQ(counting("%many = load i32, ptr %in", kStore, "%many"), "");
}

TEST(OutputTurns, AreNoMoreThanAMillionOfALoop) {
  EXPECT_THAT(counting("", kStore, "2000000"), ::testing::HasSubstr("ret i64 1048576"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
