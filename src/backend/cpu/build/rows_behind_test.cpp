#include "backend/cpu/build/rows_behind.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/fetching_kernel.h"

// For which loops lines behind their rows are asked for. That they arrive in time only benchmarks tell.

namespace cupola::cpu::build::testing {
namespace {

/// A thread that goes through a row of %values from `first` on, by `step` elements a turn, up to %end.
std::string row_of(const std::string& first, const std::string& step) {
  return R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.laneid()
    define void @k(ptr %context, ptr %offsets, ptr %values, ptr %out, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %lane = call i32 @cupola.laneid()
      %place = getelementptr i32, ptr %offsets, i32 %t
      %begin = load i32, ptr %place
      %with.lane = add i32 %begin, %lane
      %after = getelementptr i32, ptr %place, i32 1
      %end = load i32, ptr %after
      %some = icmp slt i32 %begin, %end
      br i1 %some, label %row, label %over
    row:
      br label %loop
    loop:
      %i = phi i32 [ )" +
         first + R"(, %row ], [ %next, %loop ]
      %sum = phi float [ 0.0, %row ], [ %more, %loop ]
      %wide = sext i32 %i to i64
      %from = getelementptr float, ptr %values, i64 %wide
      %value = load float, ptr %from
      %more = fadd float %sum, %value
      %next = add nsw i32 %i, )" +
         step + R"(
      %goes.on = icmp slt i32 %next, %end
      br i1 %goes.on, label %loop, label %over
    over:
      %total = phi float [ 0.0, %start ], [ %more, %loop ]
      store float %total, ptr %out
      ret void
    })";
}

size_t fetched_by_some(const std::string& text) {
  llvm::LLVMContext context;
  const auto module = parse(context, text);
  return fetches_in(*module, [](llvm::Function&, Evolution& evolution,
                                const llvm::LoopInfo& loops) { return fetch_rows_behind(evolution, loops); })
      .size();
}

size_t fetched_by_one(const std::string& text) {
  llvm::LLVMContext context;
  const auto module = parse(context, text);
  llvm::Function& code = *module->getFunction("k");
  fetch_rows_behind(code);
  EXPECT_FALSE(llvm::verifyFunction(code, &llvm::errs()));
  size_t count = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(code)) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    count += call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  }
  return count;
}

TEST(RowsBehind, AreFetchedWhereARowBeginsWhereMemorySays) {
  EXPECT_EQ(fetched_by_one(row_of("%begin", "1")), 2u);
  EXPECT_EQ(fetched_by_some(row_of("%with.lane", "32")), 1u);
}

TEST(RowsBehind, AreNotWhereTheThreadKnowsItsRow) {
  EXPECT_EQ(fetched_by_one(row_of("%t", "1")), 0u);
  EXPECT_EQ(fetched_by_some(row_of("%t", "32")), 0u);
  EXPECT_EQ(fetched_by_one(row_of("0", "1")), 0u);
}

// As where a block's shared memory is.
TEST(RowsBehind, AreNotWhatTheThreadsContextSays) {
  const auto in = [](const std::string& array) {
    std::string text = row_of("%t", "1");
    text.replace(text.find("ptr %values, i64 %wide"), 11, "ptr " + array);
    text.insert(text.find("      %t = call"),
                "      %field = getelementptr i8, ptr %context, i64 16\n"
                "      %shared = load ptr, ptr %field, !invariant.load !0, !noundef !0\n"
                "      %read = load ptr, ptr %values\n");
    return text + "\n!0 = !{}\n";
  };
  EXPECT_EQ(fetched_by_one(in("%shared")), 0u);
  EXPECT_EQ(fetched_by_one(in("%read")), 2u) << "the thread's own row";
}

TEST(RowsBehind, AreNotOfWhatIsFarApart) {
  EXPECT_EQ(fetched_by_one(row_of("%begin", "2")), 0u);
  EXPECT_EQ(fetched_by_some(row_of("%with.lane", "2048")), 0u);
  EXPECT_EQ(fetched_by_some(row_of("%with.lane", "%n")), 0u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
