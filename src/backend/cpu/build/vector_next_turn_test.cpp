#include "backend/cpu/build/vector_next_turn.h"

#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/analysed_kernel.h"

// Which loops fetch for their next turn. That it arrives in time only benchmarks tell.

namespace cupola::cpu::build::testing {
namespace {

/// How many places are fetched for in code that goes through %p in turns, from %t on by %n numbers: `turn` has %place.
long fetched(const std::string& turn, const std::string& meet = "call void @cupola.barrier(i32 0, i32 0)",
             const std::string& step = "%n") {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    define void @k(ptr %context, ptr %p, ptr %q, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      br label %loop
    loop:
      %i = phi i32 [ %t, %start ], [ %next, %end ]
      %z = phi i32 [ 0, %start ], [ %above, %end ]
      %wide = sext i32 %i to i64
      %place = getelementptr i32, ptr %p, i64 %wide
      )" + turn + meet + R"(
      br label %end
    end:
      %next = add i32 %i, )" + step + R"(
      %above = add i32 %z, 1
      %go = icmp slt i32 %above, %n
      br i1 %go, label %loop, label %over
    over:
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  const Fetches fetches = fetch_for_next_turn(function, loops, dominators);
  const llvm::PostDominatorTree post_dominators(function);
  keep_fetches_of_rows(fetches, Shapes(function, BlockClass::Rows, loops, post_dominators));
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  return llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& one) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
    return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
  });
}

const std::string kRead = "%v = load i32, ptr %place\n";
const std::string kMeet = "call void @cupola.barrier(i32 0, i32 0)";

TEST(VectorNextTurn, IsFetchedForWhereTheBlockMeetsInEach) {
  EXPECT_EQ(fetched(kRead), 1);
  EXPECT_EQ(fetched(kRead, kMeet, "4096"), 1);
  EXPECT_EQ(fetched(kRead + "%w = load i32, ptr %place\n"), 1);  // once
}

TEST(VectorNextTurn, IsNotFetchedForElsewhere) {
  EXPECT_EQ(fetched(kRead, ""), 0);                  // a loop that the processor, or warps in turns, see
  EXPECT_EQ(fetched(kRead, kMeet, "16"), 0);         // near
  EXPECT_EQ(fetched("%v = load i32, ptr %p\n"), 0);  // the same in each turn
  EXPECT_EQ(fetched("%at = load i32, ptr %p\n %there = getelementptr i32, ptr %q, i32 %at\n"
                    "%v = load i32, ptr %there\n"),
            0);  // wherever that is
  EXPECT_EQ(fetched("%there = mul i32 %i, 64\n %apart = getelementptr i32, ptr %q, i32 %there\n"
                    "%v = load i32, ptr %apart\n"),
            0);  // lanes that read lines of their own
  EXPECT_EQ(fetched(R"(
      br label %inner
    inner:
      %j = phi i32 [ 0, %loop ], [ %more, %inner ]
      %cell = getelementptr i32, ptr %place, i32 %j
      %v = load i32, ptr %cell
      %more = add i32 %j, 1
      %again = icmp ult i32 %more, 7
      br i1 %again, label %inner, label %met
    met:
      )"),
            0);  // a loop of its own goes through it
}

}  // namespace
}  // namespace cupola::cpu::build::testing
