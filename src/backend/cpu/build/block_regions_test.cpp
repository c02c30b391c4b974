#include "backend/cpu/build/block_regions.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>

#include "backend/cpu/build/cut_code.h"
#include "backend/cpu/build/test_machine.h"

// Which code is cut, and what is kept from region to region. What the regions compute is VectorDifferential's to show.

namespace cupola::cpu::build::testing {
namespace {

/// Turns with a barrier in each, as long as %more is true.
std::string turns(const std::string& more, const std::string& body = "") {
  return R"(
      br label %turn
    turn:
      %i = phi i32 [ 0, %start ], [ %next, %turn ]
      )" +
         body + kMeet + R"(
      %next = add i32 %i, 1
      )" +
         more + R"(
      br i1 %more, label %turn, label %over
    over:)";
}

TEST(BlockRegions, AreWhereAllWarpsGoTheSameWay) {
  EXPECT_TRUE(Cut(kMeet));
  EXPECT_TRUE(Cut(turns("%more = icmp ult i32 %next, %n")));
  EXPECT_TRUE(Cut(turns("%more = icmp ult i32 %next, %w")));
  EXPECT_TRUE(Cut(turns("%more = icmp ult i32 %next, %b")));
  EXPECT_TRUE(
      Cut(turns("%votes = call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 1, i32 %t)\n"
                "%more = icmp ne i32 %votes, 0")));
}

TEST(BlockRegions, AreNotWhereWarpsMayGoOtherWays) {
  EXPECT_FALSE(Cut(turns("%more = icmp ult i32 %next, %t")));
  EXPECT_FALSE(Cut(turns("%limit = load i32, ptr %p\n %more = icmp ult i32 %next, %limit")));
  // How often a warp went round a loop of its own.
  EXPECT_FALSE(Cut(R"(
      br label %turn
    turn:
      %i = phi i32 [ 0, %start ], [ %next, %turn ]
      %next = add i32 %i, 1
      %more = icmp ult i32 %next, %t
      br i1 %more, label %turn, label %over
    over:
      %some = icmp ult i32 %i, 7
      br i1 %some, label %meet, label %on
    meet:)" + kMeet +
                   "br label %on\n on:"));
  // Which way it took.
  EXPECT_FALSE(Cut(R"(
      %low = icmp ult i32 %t, 32
      br i1 %low, label %one, label %both
    one:
      br label %both
    both:
      %which = phi i1 [ true, %one ], [ false, %start ]
      br i1 %which, label %meet, label %on
    meet:)" + kMeet +
                   "br label %on\n on:"));
}

TEST(BlockRegions, OfBlocksBesideEachOtherAreWhereAllOfThemGoTheSameWay) {
  const auto are_beside = [](const std::string& more) {
    return static_cast<bool>(Cut(turns("%more = icmp ult i32 %next, " + more), 4096, /*beside=*/true));
  };
  EXPECT_TRUE(are_beside("%n"));
  EXPECT_TRUE(are_beside("%w"));
  EXPECT_FALSE(are_beside("%b"));
  EXPECT_FALSE(are_beside("%t"));
}

TEST(BlockRegions, WhatIsTheSameForAllIsDoneOnce) {
  EXPECT_EQ(Cut(kMeet).for_warps(), 0u);
  EXPECT_EQ(Cut(turns("%more = icmp ult i32 %next, %n")).for_warps(), 0u);
  EXPECT_EQ(Cut(turns("%more = icmp ult i32 %next, %n", "store i32 %i, ptr %p\n")).for_warps(), 1u);
}

/// Bytes that a warp keeps of `made`, as %v, which it stores after a barrier.
uint64_t kept(const std::string& made) {
  const Cut cut(made + "\n" + kMeet + "store <32 x i32> %v, ptr %q");
  EXPECT_TRUE(cut) << made;
  return cut ? cut.regions->frame_bytes : 0;
}

TEST(BlockRegions, WarpsKeepWhatCannotBeMadeAgain) {
  EXPECT_EQ(kept("%v = load <32 x i32>, ptr %p"), 128u);
  EXPECT_EQ(kept("%one = insertelement <32 x i32> zeroinitializer, i32 %t, i32 0\n"
                 "%v = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer"),
            0u);
  EXPECT_EQ(kept("%one = insertelement <32 x i32> zeroinitializer, i32 %n, i32 0\n"
                 "%v = udiv <32 x i32> splat (i32 100), %one"),
            0u);  // the same for all
  EXPECT_EQ(kept("%one = insertelement <32 x i32> zeroinitializer, i32 %t, i32 0\n"
                 "%v = udiv <32 x i32> splat (i32 100), %one"),
            128u);  // takes longer than to read it
}

/// What is known of what a warp takes from its frame, as the end of its range; 0: nothing.
uint64_t end_of_range(const std::string& made, const std::string& type = "<32 x i32>") {
  const Cut cut(made + "\n" + kMeet + "store " + type + " %v, ptr %q");
  EXPECT_TRUE(cut) << made;
  if (!cut) return 0;
  uint64_t end = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(*cut.regions->regions.front().begin->getParent()))
    if (const llvm::MDNode* range = instruction.getMetadata(llvm::LLVMContext::MD_range)) {
      EXPECT_TRUE(llvm::mdconst::extract<llvm::ConstantInt>(range->getOperand(0))->isZero());
      end = llvm::mdconst::extract<llvm::ConstantInt>(range->getOperand(1))->getZExtValue();
    }
  return end;
}

TEST(BlockRegions, WhatIsKnownOfANumberStaysKnown) {
  const std::string load = "%r = load <32 x i32>, ptr %p\n";
  EXPECT_EQ(end_of_range(load + "%v = and <32 x i32> %r, splat (i32 255)\nstore <32 x i32> %r, ptr %q"), 256u);
  EXPECT_EQ(end_of_range(load + "%m = and <32 x i32> %r, splat (i32 2147483647)\n%v = mul <32 x i32> %m, %r"), 0u);
  EXPECT_EQ(end_of_range("%r = load i16, ptr %p\n%x = zext i16 %r to i32\n%v = mul i32 %x, 3", "i32"), 1u << 18);
  EXPECT_EQ(end_of_range("%v = load <32 x float>, ptr %p", "<32 x float>"), 0u);
}

// It would be made of what is kept anyway.
TEST(BlockRegions, PlacesOfGathersAreKeptWhereThoseAreWrittenOut) {
  const auto kept_on = [](const char* processor, const std::string& use) {
    const Cut cut("%v = load <32 x i32>, ptr %p\n%i = and <32 x i32> %v, splat (i32 255)\n" + kMeet +
                      "%far = zext <32 x i32> %i to <32 x i64>\n%all = getelementptr i32, ptr %q, <32 x i64> %far\n" +
                      use + "store <32 x i32> %v, ptr %q\n",
                  4096, /*beside=*/false, machine_of(processor));
    EXPECT_TRUE(cut);
    return cut ? cut.regions->frame_bytes : 0;
  };
  const auto gather = [](const std::string& mask) {
    return "%g = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %all, <32 x i1> " + mask +
           ", <32 x i32> zeroinitializer)\nstore <32 x i32> %g, ptr %p\n";
  };
  const std::string all = gather("splat (i1 true)"),
                    some = "%m = icmp eq <32 x i32> %v, zeroinitializer\n" + gather("%m");
  EXPECT_EQ(kept_on("znver4", all), 256u);
  EXPECT_EQ(kept_on("znver4", some), 128u);
  EXPECT_EQ(kept_on("znver4", "store <32 x i64> %far, ptr %p\n"), 128u);
  EXPECT_EQ(kept_on("sapphirerapids", all), 128u);
}

// What is made again of what is made again comes from the region's own warp.
TEST(BlockRegions, NothingIsTakenFromAnotherRegionsWarp) {
  const Cut cut("%a = add i32 %t, 1\n store i32 %a, ptr %p\n" + kMeet + "%c = mul i32 %a, 3\n store i32 %c, ptr %p\n" +
                kMeet + "store i32 %c, ptr %q\n");
  ASSERT_TRUE(cut);
  for (const BlockRegion& region : cut.regions->regions)
    for (const llvm::BasicBlock* block : region.blocks)
      for (const llvm::Instruction& instruction : *block)
        for (const llvm::Value* operand : instruction.operands())
          if (const auto* made = llvm::dyn_cast<llvm::Instruction>(operand))
            EXPECT_TRUE(llvm::is_contained(region.blocks, made->getParent())) << made->getName().str();
}

TEST(BlockRegions, NoMoreIsKeptThanAskedFor) {
  const std::string text = "%v = load <32 x i32>, ptr %p\n" + kMeet + "store <32 x i32> %v, ptr %q";
  EXPECT_TRUE(Cut(text, 128));
  EXPECT_FALSE(Cut(text, 127));
}

TEST(BlockRegions, WhatIsKeptLiesWithoutGaps) {
  const std::string row = " = load volatile <32 x i32>, ptr %p\n", word = " = load volatile i32, ptr %p\n";
  EXPECT_EQ(Cut("%one" + word + "%v" + row + "%two" + word + "%u" + row + kMeet +
                "store <32 x i32> %v, ptr %q\n store <32 x i32> %u, ptr %q\n store i32 %one, ptr %q\n"
                "store i32 %two, ptr %q\n")
                .regions->frame_bytes,
            2u * 128 + 64);
}

// What a turn makes for the next one lies where this turn's was, unless that is asked for after it was made.
TEST(BlockRegions, WhatAPhiTakesLiesWhereThePhiDoes) {
  const auto rows_kept = [](const std::string& before, const std::string& after) {
    return Cut(R"(
      br label %turn
    turn:
      %i = phi i32 [ 0, %start ], [ %next, %turn ]
      %sum = phi <32 x i32> [ zeroinitializer, %start ], [ %new, %turn ]
      )" + kMeet +
               before + "%new = load volatile <32 x i32>, ptr %p\n" + kMeet + after + R"(
      %next = add i32 %i, 1
      %go = icmp ult i32 %next, %n
      br i1 %go, label %turn, label %over
    over:
      )")
               .regions->frame_bytes /
           128;
  };
  const std::string use = "store volatile <32 x i32> %sum, ptr %q\n";
  EXPECT_EQ(rows_kept(use, ""), 1u);
  EXPECT_EQ(rows_kept("", use), 2u);
  EXPECT_EQ(rows_kept(use, use), 2u);
}

// The first turn has %first, all others what was made before the loop.
TEST(BlockRegions, WhatIsMadeBeforeALoopLiesApart) {
  EXPECT_EQ(Cut(R"(
      %first = load volatile <32 x i32>, ptr %p
      %later = load volatile <32 x i32>, ptr %p
      br label %turn
    turn:
      %i = phi i32 [ 0, %start ], [ %next, %turn ]
      %row = phi <32 x i32> [ %first, %start ], [ %later, %turn ]
      )" + kMeet +
                R"(
      store volatile <32 x i32> %row, ptr %q
      %next = add i32 %i, 1
      %go = icmp ult i32 %next, %n
      br i1 %go, label %turn, label %over
    over:
      )")
                .regions->frame_bytes,
            2u * 128);
}

/// The number of stores of rows in loops of the region that begins with the code.
size_t rows_stored_in_turns(Cut& cut) {
  llvm::Function& code = *cut.regions->regions.front().begin->getParent();
  const llvm::DominatorTree dominators(code);
  const llvm::LoopInfo loops(dominators);
  return llvm::count_if(llvm::instructions(code), [&](const llvm::Instruction& instruction) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    return store && store->getValueOperand()->getType()->isVectorTy() && loops.getLoopFor(store->getParent());
  });
}

// A sum that a loop makes between two barriers.
TEST(BlockRegions, WhatALoopLeavesIsKeptBehindIt) {
  Cut cut(kMeet + R"(
      br label %turn
    turn:
      %i = phi i32 [ 0, %start ], [ %next, %more ]
      %sum = phi <32 x i32> [ zeroinitializer, %start ], [ %more.sum, %more ]
      %goes.on = icmp ult i32 %i, %n
      br i1 %goes.on, label %more, label %over
    more:
      %row = load volatile <32 x i32>, ptr %p
      %more.sum = add <32 x i32> %sum, %row
      %next = add i32 %i, 1
      br label %turn
    over:)" +
          kMeet + "store volatile <32 x i32> %sum, ptr %q\n");
  EXPECT_EQ(cut.regions->frame_bytes, 128u);
  EXPECT_EQ(rows_stored_in_turns(cut), 0u);
}

TEST(BlockRegions, ArraysAreKeptThatAreUsedAgain) {
  const std::string array = "%a = alloca [64 x i32]\n %at = getelementptr i32, ptr %a, i32 %t\n";
  const std::string use = "store volatile i32 %t, ptr %at\n %r = load volatile i32, ptr %at\n store i32 %r, ptr %q\n";
  EXPECT_EQ(Cut(array + kMeet + use + kMeet).regions->frame_bytes, 0u);
  EXPECT_EQ(Cut(array + kMeet + use + kMeet).regions->arrays.size(), 1u);
  EXPECT_EQ(Cut(array + "store i32 1, ptr %at\n" + kMeet + use).regions->frame_bytes, 256u);
  EXPECT_EQ(Cut(array + kMeet + "store ptr %at, ptr %q\n" + kMeet).regions->frame_bytes, 256u);  // others may find it
  EXPECT_EQ(Cut(array + turns("%more = icmp ult i32 %next, %n", use)).regions->frame_bytes, 256u);
  const std::string scratch = std::string(array).replace(array.find('\n'), 1, ", !cupola.scratch !{}\n");
  EXPECT_EQ(Cut(scratch + turns("%more = icmp ult i32 %next, %n", use)).regions->frame_bytes, 0u);
  EXPECT_EQ(Cut(scratch + "store i32 1, ptr %at\n" + kMeet + use).regions->frame_bytes, 256u) << "of two regions";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
