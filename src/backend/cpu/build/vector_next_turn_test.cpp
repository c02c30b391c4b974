#include "backend/cpu/build/vector_next_turn.h"

#include "backend/cpu/build/fetching_kernel.h"

// Which loops fetch for their next turn. That it arrives in time only benchmarks tell.

namespace cupola::cpu::build::testing {
namespace {

using Distances = std::vector<int64_t>;

/// The lines that a thread fetches, so many turns ahead, in a loop that reads %place, the thread's of %p, and goes on
/// by `step` bytes: how far from what it reads; 0: that is not known here.
Distances fetched_ahead(const std::string& turn, const std::string& step, uint32_t turns = 1) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare void @cupola.barrier(i32, i32)
    define void @k(ptr %context, ptr %p, i64 %plane, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %wide = zext i32 %t to i64
      %first = getelementptr float, ptr %p, i64 %wide
      br label %loop
    loop:
      %i = phi i32 [ 0, %start ], [ %next, %latch ]
      %place = phi ptr [ %first, %start ], [ %further, %latch ]
      )" + turn + R"(
      br label %latch
    latch:
      %further = getelementptr i8, ptr %place, i64 )" +
                                         step + R"(
      %next = add i32 %i, 1
      %go = icmp slt i32 %next, %n
      br i1 %go, label %loop, label %over
    over:
      ret void
    })");
  Distances distances;
  for (llvm::CallInst* fetch :
       fetches_in(*module, [&](llvm::Function&, Evolution& evolution, const llvm::LoopInfo& loops) {
         return fetch_next_turns(evolution, loops, turns);
       })) {
    const auto* place = llvm::cast<llvm::GetElementPtrInst>(fetch->getArgOperand(0));
    const auto* distance = llvm::dyn_cast<llvm::ConstantInt>(place->getOperand(1));
    distances.push_back(distance ? distance->getSExtValue() : 0);
  }
  return distances;
}

constexpr const char *kMeet = "call void @cupola.barrier(i32 0, i32 -1)\n",
                     *kReadPlace = "%a = load float, ptr %place\n";

TEST(NextTurns, AreFetchedWhereABlockMeetsAndGoesFar) {
  EXPECT_EQ(fetched_ahead(std::string(kMeet) + kReadPlace, "%plane"), Distances{0});
  EXPECT_EQ(fetched_ahead(std::string(kReadPlace) + kMeet, "65536"), Distances{65536});
  EXPECT_EQ(fetched_ahead(std::string(kReadPlace) + kMeet, "65536", 2), Distances{131072});
}

TEST(NextTurns, AreNotFetchedWhereItGoesNearOrMeetsNobodyOrOnlyWrites) {
  EXPECT_EQ(fetched_ahead(std::string(kMeet) + kReadPlace, "1024"), Distances{});
  EXPECT_EQ(fetched_ahead(kReadPlace, "%plane"), Distances{});
  EXPECT_EQ(fetched_ahead(std::string(kMeet) + "store float 1.0, ptr %place\n", "%plane"), Distances{});
}

TEST(NextTurns, AreNotFetchedForLoopsWithin) {
  EXPECT_EQ(fetched_ahead(std::string(kMeet) + R"(
      br label %inner
    inner:
      %j = phi i32 [ 0, %loop ], [ %more, %inner ]
      %a = load float, ptr %place
      %more = add i32 %j, 1
      %again = icmp slt i32 %more, %n
      br i1 %again, label %inner, label %done
    done:
    )",
                          "%plane"),
            Distances{});
}

}  // namespace
}  // namespace cupola::cpu::build::testing
