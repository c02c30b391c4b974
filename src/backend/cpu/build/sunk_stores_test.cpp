#include "backend/cpu/build/sunk_stores.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>

#include <array>
#include <string>

#include "backend/cpu/build/test_program.h"
#include "kir/pass_analyses.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

/// @f(p, n): a frame, %frame of 64 bytes, of which %at16 and %at20 are places; a loop of n turns (%i), each of which
/// does `turn`, and after it `behind`. `leaves`: asked in the middle of a turn, behind `turn`; then the loop is left.
std::string text(const std::string& turn, const std::string& behind, const std::string& leaves = "") {
  return R"(
    declare void @other(ptr)
    declare void @llvm.lifetime.end.p0(ptr)
    define void @f(ptr %p, i32 %n) {
    entry:
      %frame = alloca [64 x i8], align 16
      %at16 = getelementptr i8, ptr %frame, i64 16
      %at20 = getelementptr i8, ptr %frame, i64 20
      store i32 1000, ptr %at16
      store i32 2000, ptr %at20
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %end ]
      %more = icmp ult i32 %i, %n
      br i1 %more, label %body, label %over
    body:
      %at.i = getelementptr i32, ptr %p, i32 %i
      )" +
         turn + (leaves.empty() ? "br label %end\n" : leaves) + R"(
    end:
      %next = add i32 %i, 1
      br label %loop
    over:
      )" +
         behind + "ret void }\n";
}

struct Stores {
  size_t in_loops, behind;  ///< of the frame
};

Stores after(llvm::Function& function) {
  kir::PassAnalyses analyses;
  llvm::createFunctionToLoopPassAdaptor(SinkStores(), /*UseMemorySSA=*/true).run(function, analyses.functions);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  Stores stores{};
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    if (!store || !llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(store->getPointerOperand()))) continue;
    if (instruction.getParent()->isEntryBlock()) continue;
    ++(loops.getLoopFor(instruction.getParent()) ? stores.in_loops : stores.behind);
  }
  return stores;
}
Stores after(const std::string& text) {
  kir::TestModule module(text);
  return after(*module->getFunction("f"));
}

/// Ten numbers, of which the loop may write some, and what is behind it the last two.
using Memory = std::array<uint32_t, 10>;

/// What @f does, `sunk` or as it stands.
Memory result(const std::string& text, uint32_t turns, bool sunk) {
  kir::TestModule module(text);
  if (sunk) EXPECT_EQ(after(*module->getFunction("f")).in_loops, 0u);
  Memory memory{5, 3, 8, 1, 9, 2, 7, 4};
  module.function<void(uint32_t*, uint32_t)>("f")(memory.data(), turns);
  return memory;
}

const std::string kStore = "%v = load i32, ptr %at.i\nstore i32 %v, ptr %at16\n", kRead = R"(
      %r = load i32, ptr %at16
      %out = getelementptr i32, ptr %p, i32 8
      store i32 %r, ptr %out
      )";

TEST(SunkStores, AreMadeOnceBehindTheLoop) {
  const std::string code = text(kStore + "%twice = add i32 %v, %v\nstore i32 %twice, ptr %at20\n",
                                kRead +
                                    "%s = load i32, ptr %at20\n%next.out = getelementptr i32, ptr %p, i32 9\n"
                                    "store i32 %s, ptr %next.out\n");
  const Stores stores = after(code);
  EXPECT_EQ(stores.in_loops, 0u);
  EXPECT_EQ(stores.behind, 2u);
  for (const uint32_t turns : {0u, 1u, 2u, 7u})
    EXPECT_EQ(result(code, turns, true), result(code, turns, false)) << turns;
  EXPECT_EQ(result(code, 3, true)[8], 8u);
  EXPECT_EQ(result(code, 0, true)[9], 2000u);
}

TEST(SunkStores, AreTheLastOfTheTurnsThatMakeOne) {
  const std::string code = text(R"(
      %v = load i32, ptr %at.i
      %some = icmp ugt i32 %v, 4
      br i1 %some, label %then, label %on
    then:
      store i32 %v, ptr %at16
      br label %on
    on:
      )",
                                kRead);
  for (const uint32_t turns : {0u, 1u, 2u, 4u, 7u, 8u})
    EXPECT_EQ(result(code, turns, true), result(code, turns, false)) << turns;
}

TEST(SunkStores, AreThoseOfLoopsWithManyAccesses) {
  std::string many;
  for (int i = 0; i < 600; ++i)
    many += formatted("%a{0} = getelementptr i32, ptr %p, i32 {1}\n%r{0} = load volatile i32, ptr %a{0}\n", i, i % 8);
  const Stores stores = after(text(kStore + many, kRead));
  EXPECT_EQ(stores.in_loops, 0u);
  EXPECT_EQ(stores.behind, 1u);
}

TEST(SunkStores, AreThoseOfAllLoopsAround) {
  const std::string code = text(R"(
      br label %inner
    inner:
      %k = phi i32 [ 0, %body ], [ %next.k, %inner ]
      %v = add i32 %i, %k
      store i32 %v, ptr %at16
      %next.k = add i32 %k, 1
      %again = icmp ult i32 %next.k, 3
      br i1 %again, label %inner, label %on
    on:
      )",
                                kRead);
  const Stores stores = after(code);
  EXPECT_EQ(stores.in_loops, 0u);
  EXPECT_EQ(stores.behind, 1u);
  EXPECT_EQ(result(code, 5, true)[8], 6u);
}

TEST(SunkStores, StayWhereTheLoopReadsThem) {
  EXPECT_EQ(after(text("%old = load i32, ptr %at16\nstore i32 %old, ptr %at.i\n" + kStore, kRead)).in_loops, 1u);
  EXPECT_EQ(after(text("%old = load i64, ptr %at16\nstore i64 %old, ptr %at.i\n" + kStore, kRead)).in_loops, 1u);
  EXPECT_EQ(after(text("store i64 7, ptr %at16\n" + kStore, kRead)).in_loops, 2u) << "a part of another place";
  EXPECT_EQ(after(text("%any = getelementptr i32, ptr %frame, i32 %i\n%old = load i32, ptr %any\n"
                       "store i32 %old, ptr %at.i\n" +
                           kStore,
                       kRead))
                .in_loops,
            1u)
      << "some place";
  EXPECT_EQ(after(text("%old = load i32, ptr %at20\nstore i32 %old, ptr %at.i\n" + kStore, kRead)).in_loops, 0u)
      << "another place";
  EXPECT_EQ(after(text("%half = getelementptr i8, ptr %at20, i64 -2\n%old = load i32, ptr %half\n"
                       "store i32 %old, ptr %at.i\n" +
                           kStore,
                       kRead))
                .in_loops,
            1u)
      << "a part of it";
  EXPECT_EQ(after(text("store float 1.0, ptr %at16\n" + kStore, kRead)).in_loops, 2u) << "as another type";
}

TEST(SunkStores, StayAloneWhereTheirAddressIsMadeInTheLoop) {
  const std::string made = "%here = getelementptr i8, ptr %frame, i64 20\nstore i32 %i, ptr %here\n";
  const Stores stores = after(text(kStore + made, kRead));
  EXPECT_EQ(stores.in_loops, 1u);
  EXPECT_EQ(stores.behind, 1u);
}

TEST(SunkStores, StayWhereTheVariableEndsInTheLoop) {
  const auto in_loops = [](const std::string& in_turn, const std::string& behind) {
    return after(text(kStore + in_turn, kRead + behind)).in_loops;
  };
  const std::string ends = "call void @llvm.lifetime.end.p0(ptr %frame)\n";
  EXPECT_EQ(in_loops("", ends), 0u);
  EXPECT_EQ(in_loops(ends, ""), 1u);
}

TEST(SunkStores, StayWhereOthersMayReadThem) {
  EXPECT_EQ(after(text("call void @other(ptr %frame)\n" + kStore, kRead)).in_loops, 1u);
  EXPECT_EQ(after(text(kStore, kRead + "call void @other(ptr %frame)\n")).in_loops, 1u);
  EXPECT_EQ(after(text(kStore + "store ptr %frame, ptr %p\n", kRead)).in_loops, 1u);
  EXPECT_EQ(after(text("store ptr %frame, ptr %frame\n" + kStore, kRead)).in_loops, 2u) << "in the frame itself";
  EXPECT_EQ(after(text("%v = load i32, ptr %at.i\nstore volatile i32 %v, ptr %at16\n", kRead)).in_loops, 1u);
  EXPECT_EQ(after(text(kStore,
                       "%any = getelementptr i32, ptr %frame, i32 %n\n%r = load i32, ptr %any\n"
                       "store i32 %r, ptr %p\n"))
                .in_loops,
            0u)
      << "some place, behind the loop";
}

TEST(SunkStores, StayWhereTheLoopIsLeftWithinATurn) {
  EXPECT_EQ(after(text(kStore, kRead, "%found = icmp eq i32 %v, 9\nbr i1 %found, label %over, label %end\n")).in_loops,
            1u);
}

TEST(SunkStores, StayOutsideTheFrame) {
  EXPECT_EQ(after(text("%v = load i32, ptr %at.i\n%far = getelementptr i8, ptr %frame, i64 64\n"
                       "store i32 %v, ptr %far\n",
                       ""))
                .in_loops,
            1u)
      << "behind its end";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
