#include "backend/cpu/build/vector_next_block.h"

#include <llvm/IR/IntrinsicInst.h>

#include "backend/cpu/build/analysed_kernel.h"
#include "backend/cpu/build/fetching_kernel.h"

// Which loops fetch for the next block. That it arrives in time only benchmarks tell.

namespace cupola::cpu::build::testing {
namespace {

/// How far ahead a fetch is, where that is known, in bytes: if the block there is run by this call; else 0.
uint64_t bytes_ahead(const llvm::GetElementPtrInst& address) {
  const auto* choice = llvm::dyn_cast<llvm::SelectInst>(address.getOperand(1));
  const auto* bytes = choice ? llvm::dyn_cast<llvm::ConstantInt>(choice->getTrueValue()) : nullptr;
  return bytes ? bytes->getZExtValue() : 0;
}

/// The names of what blocks fetch ahead of that go through `body`, whose loops count in %i or %j; their row is %row,
/// and %place in it is the thread's of the turn. With how far ahead that is, where that is known.
std::vector<std::string> fetched(const std::string& turn, const std::string& step = "%width",
                                 const std::string& row = "%first = mul i32 %b, %columns",
                                 const std::string& more = "") {
  llvm::LLVMContext context;
  const auto module = parse(context, R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.nctaid.x()
    declare i32 @cupola.ctaid.x()
    declare void @cupola.barrier(i32, i32)
    define void @k(ptr %context, ptr %p, ptr %q, i32 %columns, i32 %n) {
    start:
      %t = call i32 @cupola.tid.x()
      %b = call i32 @cupola.ctaid.x()
      %width = call i32 @cupola.ntid.x()
      %blocks = call i32 @cupola.nctaid.x()
      %grid = mul i32 %width, %blocks
      )" + row + R"(
      %far = zext i32 %first to i64
      %row = getelementptr i32, ptr %p, i64 %far
      %out = getelementptr i32, ptr %q, i64 %far
      br label %loop
    loop:
      %i = phi i32 [ %t, %start ], [ %next, %loop ]
      %wide = sext i32 %i to i64
      %place = getelementptr i32, ptr %row, i64 %wide
      %result = getelementptr i32, ptr %out, i64 %wide
      %same = getelementptr i32, ptr %q, i64 %wide
      )" + turn + R"(
      %next = add i32 %i, )" + step + R"(
      %go = icmp slt i32 %next, %columns
      br i1 %go, label %loop, label %over
    over:
      )" + more + R"(
      ret void
    })");
  fetches_in(*module, [](llvm::Function& function, Evolution& evolution, llvm::LoopInfo& loops) {
    const Fetches fetches = fetch_for_next_block(function, evolution, loops, /*in_order=*/false);
    const llvm::PostDominatorTree post_dominators(function);
    keep_fetches_of_rows(fetches, Shapes(function, BlockClass::Rows, loops, post_dominators));
    return Fetches();  // some are gone
  });
  std::vector<std::string> names;
  for (const llvm::Instruction& one : llvm::instructions(*module->getFunction("k"))) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
    if (!call || call->getIntrinsicID() != llvm::Intrinsic::prefetch) continue;
    const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(call->getArgOperand(0)->stripPointerCasts());
    names.push_back(address ? address->getPointerOperand()->getName().str() : "?");
    if (const uint64_t ahead = address ? bytes_ahead(*address) : 0) names.back() += formatted(" + {}", ahead);
  }
  return names;
}

using Names = std::vector<std::string>;
const std::string kRead = "%v = load i32, ptr %place\n";

TEST(VectorNextBlock, IsFetchedForByBlocksThatGoThroughRows) {
  EXPECT_EQ(fetched(kRead), Names{"place"});
  EXPECT_EQ(fetched(kRead, "256"), Names{"place"});
  EXPECT_EQ(fetched(kRead + "store i32 %v, ptr %result"), (Names{"place", "result"}));
}

TEST(VectorNextBlock, IsFetchedForOnce) {
  EXPECT_EQ(fetched(kRead + "store i32 %v, ptr %place"), Names{"place"});
  EXPECT_EQ(fetched(kRead, "%width", "%first = mul i32 %b, %columns", R"(
      br label %again
    again:
      %j = phi i32 [ %t, %over ], [ %on, %again ]
      %far2 = sext i32 %j to i64
      %place2 = getelementptr i32, ptr %row, i64 %far2
      %w = load i32, ptr %place2
      %on = add i32 %j, %width
      %more = icmp slt i32 %on, %columns
      br i1 %more, label %again, label %end
    end:)"),
            Names{"place"});
}

TEST(VectorNextBlock, IsFetchedForByLanesBesideEachOther) {
  const auto apart = [](const std::string& bytes) {
    return fetched("%line = getelementptr [" + bytes + " x i8], ptr %row, i64 %wide\n%v = load i32, ptr %line");
  };
  EXPECT_EQ(apart("16"), Names{"line"});
  EXPECT_EQ(apart("20"), Names{});
}

TEST(VectorNextBlock, IsNotFetchedForElsewhere) {
  EXPECT_EQ(fetched("%v = load i32, ptr %same"), Names{});                    // all blocks read it
  EXPECT_EQ(fetched(kRead, "16"), Names{});                                   // the same lines in the next turn
  EXPECT_EQ(fetched(kRead, "%grid"), Names{});                                // it lies beside this block's
  EXPECT_EQ(fetched(kRead, "%width", "%first = load i32, ptr %q"), Names{});  // wherever that is
  EXPECT_EQ(fetched(kRead, "%width", "%first = udiv i32 %b, %n"), Names{});
  EXPECT_EQ(fetched(kRead, "%width", "%first = mul i32 %b, %b"), Names{});
  EXPECT_EQ(fetched(kRead + "call void @cupola.barrier(i32 0, i32 0)"), Names{});
}

const std::string kMeet = "call void @cupola.barrier(i32 0, i32 0)\n";

/// Outside of loops; blocks are `apart` numbers apart.
Names fetched_once(const std::string& code, const std::string& apart = "%columns") {
  return fetched("", "%width", "%first = mul i32 %b, " + apart, R"(
      %at = add i32 %first, %t
      %mine = sext i32 %at to i64
      %piece = getelementptr i32, ptr %p, i64 %mine
      %w = load i32, ptr %piece
      )" + code);
}

TEST(VectorNextBlock, PiecesAreFetchedForByBlocksThatMeet) {
  EXPECT_EQ(fetched_once(kMeet), Names{"piece"});
  EXPECT_EQ(fetched_once(R"(
      %at2 = add i32 %at, %width
      %mine2 = sext i32 %at2 to i64
      %piece2 = getelementptr i32, ptr %p, i64 %mine2
      %w2 = load i32, ptr %piece2
      )" + kMeet),
            (Names{"piece", "piece2"}));
  EXPECT_EQ(fetched_once(""), Names{});  // such blocks take turns
  EXPECT_EQ(fetched_once("store i32 %w, ptr %q\n" + kMeet), Names{"piece"});
}

TEST(VectorNextBlock, PiecesThatAreNeverInTimeAreNotFetchedFor) {
  EXPECT_EQ(fetched_once(kMeet, "256"), Names{"piece + 2048"}) << "of the block after the next";
  EXPECT_EQ(fetched_once(kMeet, "2048"), Names{"piece + 16384"});
  EXPECT_EQ(fetched_once(kMeet, "4096"), Names{"piece + 16384"}) << "of the next one, which takes long enough";
  EXPECT_EQ(fetched_once(kMeet, "16"), Names{});
  EXPECT_EQ(fetched_once(kMeet, "65536"), Names{});
}

}  // namespace
}  // namespace cupola::cpu::build::testing
