#include "backend/cpu/build/vector_streams.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/fetching_kernel.h"
#include "backend/cpu/build/stream_habits.h"
#include "backend/cpu/build/test_machine.h"
#include "backend/cpu/build/vector_shapes.h"

// What blocks fetch ahead. That it arrives in time only benchmarks tell.

namespace cupola::cpu::build::testing {
namespace {

/// How many lines a thread fetches ahead whose number in the grid is %i (64 bits wide: %wide); x and y are arrays.
size_t fetched(const std::string& body, const std::string& number = "%first = mul i32 %b, %width",
               uint64_t bytes_ahead = 1024, const std::string& processor = "znver4") {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    define void @k(ptr %context, ptr %x, ptr %y, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %b = call i32 @cupola.ctaid.x()
      %width = call i32 @cupola.ntid.x()
      )" + number + R"(
      %i = add nsw i32 %first, %t
      %wide = sext i32 %i to i64
      %xi = getelementptr float, ptr %x, i64 %wide
      %yi = getelementptr float, ptr %y, i64 %wide
      )" + body + R"(
      ret void
    })");
  const auto machine = machine_of(processor);
  const Fetches fetches =
      fetches_in(*module, [&](auto&... parts) { return fetch_ahead_in_streams(parts..., stream_habits(*machine)); });
  for (const llvm::CallInst* fetch : fetches) {
    const llvm::APInt ahead(64, bytes_ahead);
    const auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(fetch->getArgOperand(0));
    llvm::APInt offset(64, 0);
    EXPECT_TRUE(place && place->accumulateConstantOffset(module->getDataLayout(), offset) && offset == ahead);
    const auto* locality = llvm::cast<llvm::ConstantInt>(fetch->getArgOperand(2));  // 3: the first cache
    EXPECT_EQ(locality->getZExtValue(), bytes_ahead == 1024 ? 3u : 2u);
  }
  return fetches.size();
}

constexpr const char* kRead = "%a = load float, ptr %xi\n";

TEST(Streams, AreWhatBlocksReadOneAfterTheOther) {
  EXPECT_EQ(fetched(kRead), 1u);
  EXPECT_EQ(fetched(std::string(kRead) + "%c = load float, ptr %yi\n"), 2u);
  EXPECT_EQ(fetched(kRead, "%first = mul i32 %b, 256"), 1u);
}

// How far ahead, and how many turns of a grid are taken together, is the processor's.
TEST(Streams, AreFetchedAsProcessorsNeedIt) {
  const std::string first = "%first = mul i32 %b, 256";
  EXPECT_EQ(fetched(kRead, first, 4096, "sapphirerapids"), 1u);
  EXPECT_EQ(fetched(kRead, first, 4096, "rocketlake"), 1u);
  for (const char* as_amd : {"znver3", "x86-64", "x86-64-v3"}) EXPECT_EQ(fetched(kRead, first, 1024, as_amd), 1u);
  const StreamHabits &intel = stream_habits(*machine_of("sapphirerapids")), &amd = stream_habits(*machine_of("znver4"));
  EXPECT_GT(intel.rows_of_grid, amd.rows_of_grid);
  const StreamHabits& zen5 = stream_habits(*machine_of("znver5"));
  EXPECT_EQ(fetched(kRead, first, 0, "znver5"), 0u);
  EXPECT_TRUE(amd.arrays_in_turn && amd.every_second_block && !zen5.arrays_in_turn && !zen5.every_second_block);
}

TEST(Streams, AreFetchedOnceForWhatIsBesideThem) {
  EXPECT_EQ(fetched(std::string(kRead) + R"(
      %left = getelementptr float, ptr %xi, i64 -1
      %l = load float, ptr %left
      %right = getelementptr float, ptr %xi, i64 1
      %r = load float, ptr %right
    )"),
            1u);
}

TEST(Streams, AreNotRowsOfOneArray) {
  EXPECT_EQ(fetched(std::string(kRead) + R"(
      %far = sext i32 %n to i64
      %below = getelementptr float, ptr %xi, i64 %far
      %c = load float, ptr %below
    )"),
            0u);
}

// Tiles of a picture with what lies around them.
TEST(Streams, AreRowsOfOneArrayWhereBlocksMeetAndAreNarrow) {
  const std::string rows = std::string(kRead) + R"(
      %far = sext i32 %n to i64
      %below = getelementptr float, ptr %xi, i64 %far
      %c = load float, ptr %below
    )",
                    meet = "call void @cupola.barrier(i32 0, i32 0)\n";
  EXPECT_EQ(fetched(rows + meet, "%first = mul i32 %b, 16", 2048), 1u);
  EXPECT_EQ(fetched(rows + meet, "%first = mul i32 %b, 16", 2048, "znver5"), 1u);
  EXPECT_EQ(fetched(rows, "%first = mul i32 %b, 16"), 0u) << "they do not meet";
  EXPECT_EQ(fetched(rows + meet, "%first = mul i32 %b, 32"), 0u) << "wide";
  EXPECT_EQ(fetched(rows + meet, "%first = mul i32 %b, -16"), 0u);
}

// A tile somewhat larger than the block: each thread reads a few of its rows.
TEST(Streams, AreRowsReadInShortLoopsWhereBlocksMeet) {
  const auto tile = [](const std::string& step, const std::string& end = "22") {
    return R"(
      %pitch = sext i32 %n to i64
      br label %turn
    turn:
      %row = phi i32 [ %t, %start ], [ %next, %on ]
      %more = icmp ult i32 %row, )" +
           end + R"(
      br i1 %more, label %on, label %over
    on:
      %wider = zext i32 %row to i64
      %rows = mul i64 %wider, %pitch
      %place = getelementptr float, ptr %xi, i64 %rows
      %a = load float, ptr %place
      %next = add i32 %row, )" +
           step + R"(
      br label %turn
    over:
    )";
  };
  const std::string meet = "call void @cupola.barrier(i32 0, i32 0)\n", narrow = "%first = mul i32 %b, 16";
  EXPECT_EQ(fetched(tile("16") + meet, narrow, 2048), 1u);
  EXPECT_EQ(fetched(tile("16"), narrow), 0u) << "they do not meet";
  EXPECT_EQ(fetched(tile("16") + meet, "%first = mul i32 %b, 32"), 0u) << "wide";
  EXPECT_EQ(fetched(tile("1") + meet, narrow), 0u) << "many rows";
  EXPECT_EQ(fetched(tile("16", "%n") + meet, narrow), 0u) << "as many rows as the kernel is told";
  EXPECT_EQ(fetched(tile("1", "%width") + meet, narrow), 0u) << "as many as the block is wide";
}

TEST(Streams, AreNotWhatIsOnlyWrittenOrLiesElsewhere) {
  EXPECT_EQ(fetched("store float 1.0, ptr %xi\n"), 0u);
  EXPECT_EQ(fetched(kRead, "%first = mul i32 %b, %n"), 0u) << "a row a block";
  EXPECT_EQ(fetched(kRead, "%first = mul i32 %b, 4096"), 0u);
  EXPECT_EQ(fetched(kRead, "%first = mul i32 %b, -256"), 0u);
  EXPECT_EQ(fetched(R"(
      %index = load i32, ptr %yi
      %there = sext i32 %index to i64
      %place = getelementptr float, ptr %x, i64 %there
      %a = load float, ptr %place
    )"),
            1u)
      << "the indexes, not what they say";
}

TEST(Streams, AreNotInLoops) {
  EXPECT_EQ(fetched(R"(
      br label %loop
    loop:
      %j = phi i32 [ 0, %start ], [ %next, %loop ]
      %a = load float, ptr %xi
      %next = add i32 %j, 1
      %go = icmp slt i32 %next, %n
      br i1 %go, label %loop, label %over
    over:
    )"),
            0u);
}

/// Whether threads whose number in a row of the array x is %i read what others do too.
bool of_others(const std::string& body) {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    define void @k(ptr %context, ptr %x, ptr %y, i64 %n) {
      %t = call i32 @cupola.tid.x()
      %i = zext i32 %t to i64
      %xi = getelementptr float, ptr %x, i64 %i
      %yi = getelementptr float, ptr %y, i64 %i
      %a = load float, ptr %xi
      %field = getelementptr <4 x float>, ptr %y, i64 %i
      %first = load float, ptr %field
      )" + body + R"(
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  llvm::DominatorTree dominators(function);
  const llvm::PostDominatorTree post_dominators(function);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(function, loops, dominators);
  return reads_of_others(function, evolution, Shapes(function, image::BlockClass::Rows16, loops, post_dominators));
}

TEST(Streams, AreReadByOneThreadEachOrByMore) {
  EXPECT_FALSE(of_others(""));
  EXPECT_FALSE(of_others("%again = load float, ptr %xi\n"));
  EXPECT_TRUE(of_others("%p = getelementptr float, ptr %xi, i64 1\n%b = load float, ptr %p\n"));
  EXPECT_TRUE(of_others("%p = getelementptr float, ptr %xi, i64 -1\n%b = load float, ptr %p\n"));
  EXPECT_TRUE(of_others("%p = getelementptr float, ptr %xi, i64 %n\n%b = load float, ptr %p\n")) << "another row";
  EXPECT_FALSE(of_others("%p = getelementptr float, ptr %field, i64 3\n%b = load float, ptr %p\n")) << "a field";
  EXPECT_TRUE(of_others("%p = getelementptr float, ptr %field, i64 4\n%b = load float, ptr %p\n"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
