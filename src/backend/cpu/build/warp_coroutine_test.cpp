#include "backend/cpu/build/warp_coroutine.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Coroutines/CoroInstr.h>

#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"

// Where frames are written and read. What coroutines compute is VectorDifferential's to show.

namespace cupola::cpu::build::testing {
namespace {

/// The parts of a warp's code with `body`, which has the arguments %p, %q and %n and stops at barriers.
class Split {
 public:
  explicit Split(const std::string& body) {
    module_ = parse(context_,
                    "declare void @cupola.barrier(i32, i32)\n"
                    "declare void @cupola.turn(i1, ...)\n"
                    "define void @warp(ptr %context, ptr noalias %p, ptr noalias %q, i32 %n) {\n" +
                        body + "\n ret void }");
    auto machine = machine_for("cpu:test");
    EXPECT_TRUE(machine && retarget(*module_, **machine) && lower_intrinsics(*module_, 0));
    llvm::Function* coroutine = make_coroutine(*module_->getFunction("warp"), **machine);
    for (const llvm::Instruction& one : llvm::instructions(*coroutine)) stops += llvm::isa<llvm::CoroSuspendInst>(one);
    split_coroutines(*module_, **machine);
    parts = parts_of(*coroutine);
    EXPECT_FALSE(llvm::verifyModule(*module_, &llvm::errs()));
  }

  /// Accesses of the frame in loops of a part.
  static unsigned in_loops(llvm::Function& part) {
    const llvm::DominatorTree dominators(part);
    const llvm::LoopInfo loops(dominators);
    unsigned count = 0;
    for (const llvm::Instruction& instruction : llvm::instructions(part)) {
      const llvm::Value* place = llvm::getLoadStorePointerOperand(&instruction);
      count += place && loops.getLoopFor(instruction.getParent()) && llvm::getUnderlyingObject(place) == part.getArg(0);
    }
    return count;
  }

  CoroutineParts parts;
  unsigned stops = 0;  ///< also at the end

 private:
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
};

TEST(WarpCoroutine, WhatALoopSumsUpIsKeptAfterIt) {
  const Split split(R"(
    entry:
      br label %turn
    turn:
      %i = phi i32 [ 0, %entry ], [ %next, %body ]
      %sum = phi <32 x float> [ zeroinitializer, %entry ], [ %more, %body ]
      %go = icmp ult i32 %i, %n
      br i1 %go, label %body, label %over
    body:
      %place = getelementptr <32 x float>, ptr %p, i32 %i
      %value = load <32 x float>, ptr %place
      %more = fadd <32 x float> %sum, %value
      %next = add i32 %i, 1
      br label %turn
    over:
      call void @cupola.barrier(i32 0, i32 0)
      store <32 x float> %sum, ptr %q)");
  EXPECT_EQ(Split::in_loops(*split.parts.first), 0u);
}

TEST(WarpCoroutine, WhatALoopNeedsIsReadBeforeIt) {
  const Split split(R"(
    entry:
      %factor = load <32 x float>, ptr %q
      call void @cupola.barrier(i32 0, i32 0)
      br label %turn
    turn:
      %i = phi i32 [ 0, %entry ], [ %next, %turn ]
      %place = getelementptr <32 x float>, ptr %p, i32 %i
      %value = load <32 x float>, ptr %place
      %product = fmul <32 x float> %value, %factor
      store <32 x float> %product, ptr %place
      %next = add i32 %i, 1
      %go = icmp ult i32 %next, %n
      br i1 %go, label %turn, label %over
    over:)");
  EXPECT_EQ(Split::in_loops(*split.parts.second), 0u);
}

TEST(WarpCoroutine, ResultsAreKeptRatherThanTheirOperands) {
  const auto kept = [](const std::string& result) {
    return Split(R"(
      br label %begin
    begin:
      %a = load <32 x float>, ptr %p
      %b.place = getelementptr <32 x float>, ptr %p, i32 1
      %b = load <32 x float>, ptr %b.place
      %c.place = getelementptr <32 x float>, ptr %p, i32 2
      %c = load <32 x float>, ptr %c.place
      %product = call <32 x float> @llvm.fma.v32f32(<32 x float> %a, <32 x float> %b, <32 x float> %c)
      call void @cupola.barrier(i32 0, i32 0)
      store <32 x float> )" +
                 result + ", ptr %q")
        .parts.frame_bytes;
  };
  EXPECT_EQ(kept("%product"), kept("%a"));
}

/// Two loops, one in the other, each with its mark where `inner` and `outer` put them.
std::string nested(const std::string& inner, const std::string& outer) {
  return R"(
    entry:
      %far = icmp ugt i32 %n, 5000
      br label %turn
    turn:
      %i = phi i32 [ 0, %entry ], [ %next, %latch ]
      %sum = phi i32 [ 0, %entry ], [ %left, %latch ]
      br label %inner
    inner:
      %j = phi i32 [ 0, %turn ], [ %j.next, %inner ]
      %more = phi i32 [ %sum, %turn ], [ %value, %inner ]
      %place = getelementptr i32, ptr %p, i32 %more
      %value = load i32, ptr %place
      %j.next = add i32 %j, 1
      %again = icmp ult i32 %j.next, %n
      )" +
         inner + R"(
      br i1 %again, label %inner, label %latch
    latch:
      %left = phi i32 [ %value, %inner ]
      )" +
         outer + R"(
      %next = add i32 %i, 1
      %go = icmp ult i32 %next, %n
      br i1 %go, label %turn, label %over
    over:
      store i32 %left, ptr %q)";
}

TEST(WarpCoroutine, MarksOfLoopsThatAreNoMoreAreIgnored) {
  const std::string mark = "call void (i1, ...) @cupola.turn(i1 %far)",
                    barrier = "call void @cupola.barrier(i32 0, i32 0)";
  const auto stops = [](const std::string& inner, const std::string& outer) {
    return Split(nested(inner, outer)).stops;
  };
  EXPECT_EQ(stops("", ""), 1u);
  EXPECT_EQ(stops(mark, ""), 2u);
  EXPECT_EQ(stops(mark, barrier), 3u);
  EXPECT_EQ(stops("", barrier + "\n" + mark), 2u);  // the marked loop was folded
}

/// How many lines a warp asks for that is to stop at the end of a turn.
unsigned fetched_ahead(const std::string& rows) {
  const Split split(R"(
    entry:
      %far = icmp ugt i32 %n, 1024
      %step = zext i32 %n to i64
      br label %turn
    turn:
      %i = phi i64 [ 0, %entry ], [ %next, %all ], [ %next, %some ]
      %place = getelementptr i32, ptr %p, i64 %i
      %other = getelementptr i32, ptr %q, i64 %i
      %v = load <32 x i32>, ptr %place
      %next = add i64 %i, %step
      %first = extractelement <32 x i32> %v, i32 0
      switch i32 %first, label %some [ i32 1, label %all
                                       i32 2, label %over ]
    all:
      call void (i1, ...) @cupola.turn(i1 %far)" +
                    rows + R"()
      br label %turn
    some:
      call void (i1, ...) @cupola.turn(i1 %far)" +
                    rows + R"()
      br label %turn
    over:)");
  return static_cast<unsigned>(
      llvm::count_if(llvm::instructions(*split.parts.second), [](const llvm::Instruction& one) {
        const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&one);
        return call && call->getIntrinsicID() == llvm::Intrinsic::prefetch;
      }));
}

TEST(WarpCoroutine, AsksForTheRowsOfItsNextTurnsWhereItStops) {
  EXPECT_EQ(fetched_ahead(""), 0u);
  EXPECT_EQ(fetched_ahead(", ptr %place, i64 %step, i64 128"), 16u);                                    // of 8 turns
  EXPECT_EQ(fetched_ahead(", ptr %place, i64 %step, i64 128, ptr %other, i64 %step, i64 64"), 4 * 3u);  // of 4
}

}  // namespace
}  // namespace cupola::cpu::build::testing
