#include "backend/cpu/build/crowded_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <set>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"

// Which loops are narrowed. That they compute what they did is in tests/kernels/in_step.cu.

namespace cupola::cpu::build::testing {
namespace {

/// How many lanes of 64 bits the values have that a loop of `words` words keeps, with 32 lanes before and after it;
/// `turn`: what more it does with %w0. On a processor with 32 registers of 256 bits.
std::set<unsigned> lanes_kept(int words, const std::string& turn = "%m = add <32 x i64> %w0, %splat") {
  llvm::LLVMContext context;
  std::string loop, steps, stores;
  for (int i = 0; i < words; ++i) {
    loop += formatted("%w{0} = phi <32 x i64> [ %first, %start ], [ %n{0}, %body ]\n", i);
    steps += formatted("%n{0} = xor <32 x i64> %w{1}, %m\n", i, (i + 1) % words);
    stores += formatted("%p{0} = getelementptr i8, ptr %out, i64 {1}\nstore <32 x i64> %w{0}, ptr %p{0}\n", i, 256 * i);
  }
  const auto module = parse(context, R"(
    declare <32 x i64> @llvm.fshl.v32i64(<32 x i64>, <32 x i64>, <32 x i64>)
    declare <32 x i64> @llvm.ucmp.v32i64.v32i64(<32 x i64>, <32 x i64>)
    define void @k(ptr %in, ptr %out, i64 %key) {
    start:
      %first = load <32 x i64>, ptr %in
      %inserted = insertelement <32 x i64> poison, i64 %key, i64 0
      %splat = shufflevector <32 x i64> %inserted, <32 x i64> poison, <32 x i32> zeroinitializer
      br label %loop
    loop:
      %turn = phi i32 [ 0, %start ], [ %next, %body ]
      )" + loop + R"(
      %go = icmp ult i32 %turn, 24
      br i1 %go, label %body, label %over
    body:
      )" + turn + "\n" + steps + R"(
      %next = add i32 %turn, 1
      br label %loop
    over:
      )" + stores + "\nret void }");
  llvm::Function& function = *module->getFunction("k");
  const auto machine = *machine_for("cpu:x86_64:x86-64-v4");
  module->setDataLayout(machine->createDataLayout());
  narrow_crowded_loops(function, machine->getTargetTransformInfo(function));
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  std::set<unsigned> lanes;
  unsigned kept = 0;
  for (const llvm::Instruction& each : llvm::instructions(function))
    if (const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(each.getType());
        type && llvm::isa<llvm::PHINode>(each)) {
      lanes.insert(type->getNumElements());
      kept += type->getNumElements();
    }
  EXPECT_EQ(lanes.size(), 1u);
  EXPECT_EQ(kept, *lanes.begin() * static_cast<unsigned>(words)) << "the loop is there once";
  return lanes;
}

TEST(CrowdedLoops, KeepARegistersWidthOfLanes) {
  EXPECT_EQ(lanes_kept(25), std::set{4u});
  EXPECT_EQ(lanes_kept(5), std::set{4u}) << "40 registers";
}

/// Where the loop may be left out, what follows has values of two ways.
TEST(CrowdedLoops, MayBeLeftOut) {
  llvm::LLVMContext context;
  std::string loop, steps;
  for (int i = 0; i < 6; ++i) {
    loop += formatted("%w{0} = phi <32 x i64> [ %first, %start ], [ %n{0}, %loop ]\n", i);
    steps += formatted("%n{0} = xor <32 x i64> %w{1}, splat (i64 {0})\n", i, (i + 1) % 6);
  }
  const auto module = parse(context, R"(
    define void @k(ptr %in, ptr %out, i32 %count) {
    start:
      %first = load <32 x i64>, ptr %in
      %some = icmp sgt i32 %count, 0
      br i1 %some, label %loop, label %over
    loop:
      %turn = phi i32 [ 0, %start ], [ %next, %loop ]
      )" + loop + steps + R"(
      %next = add i32 %turn, 1
      %go = icmp slt i32 %next, %count
      br i1 %go, label %loop, label %over
    over:
      %result = phi <32 x i64> [ %first, %start ], [ %n3, %loop ]
      %turns = phi i32 [ 0, %start ], [ %next, %loop ]
      store <32 x i64> %result, ptr %out
      store i32 %turns, ptr %in
      ret void
    })");
  llvm::Function& function = *module->getFunction("k");
  const auto machine = *machine_for("cpu:x86_64:x86-64-v4");
  module->setDataLayout(machine->createDataLayout());
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  llvm::BasicBlock* start = &function.getEntryBlock();
  llvm::SplitEdge(start, start->getTerminator()->getSuccessor(0), &dominators, &loops);  // a block before the loop
  narrow_crowded_loops(function, machine->getTargetTransformInfo(function));
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  unsigned wide = 0;
  for (const llvm::Instruction& each : llvm::instructions(function))
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&each)) {
      EXPECT_EQ(phi->getNumIncomingValues(), 2u);
      const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(phi->getType());
      wide += type && type->getNumElements() == 32;
    }
  EXPECT_EQ(wide, 1u) << "the result alone";
}

TEST(CrowdedLoops, StayWhereTheRegistersAreEnough) {
  EXPECT_EQ(lanes_kept(4), std::set{32u});
}

TEST(CrowdedLoops, MayRotateAndCompareAndRead) {
  EXPECT_EQ(lanes_kept(25, R"(
      %r = call <32 x i64> @llvm.fshl.v32i64(<32 x i64> %w0, <32 x i64> %w1, <32 x i64> splat (i64 7))
      %c = icmp ult <32 x i64> %r, <i64 0, i64 1, i64 2, i64 3, i64 4, i64 5, i64 6, i64 7, i64 8, i64 9, i64 10, i64 11,
           i64 12, i64 13, i64 14, i64 15, i64 16, i64 17, i64 18, i64 19, i64 20, i64 21, i64 22, i64 23, i64 24, i64 25,
           i64 26, i64 27, i64 28, i64 29, i64 30, i64 31>
      %place = getelementptr i64, ptr %in, i32 %turn
      %constant = load i64, ptr %place
      %one = insertelement <32 x i64> poison, i64 %constant, i64 0
      %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
      %m = select <32 x i1> %c, <32 x i64> %all, <32 x i64> %r)"),
            std::set{4u});
  EXPECT_EQ(lanes_kept(25, "%m = call <32 x i64> @llvm.ucmp.v32i64.v32i64(<32 x i64> %w0, <32 x i64> %w1)"),
            std::set{4u})
      << "named by two types";
}

TEST(CrowdedLoops, StayWhereLanesMeetOrMemoryIsWritten) {
  for (const char* turn :
       {"%m = shufflevector <32 x i64> %w0, <32 x i64> %w1, <32 x i32> splat (i32 5)",
        "%lane = extractelement <32 x i64> %w0, i64 3\n%m = insertelement <32 x i64> %w1, i64 %lane, i64 0",
        "store <32 x i64> %w0, ptr %out\n%m = add <32 x i64> %w0, %splat",
        "store volatile i32 %turn, ptr %out\n%m = add <32 x i64> %w0, %splat",
        "%read = load volatile i64, ptr %in\n%m = add <32 x i64> %w0, %splat", "%m = load <32 x i64>, ptr %in",
        "%odd = trunc <32 x i64> %w0 to <32 x i12>\n%m = zext <32 x i12> %odd to <32 x i64>"})
    EXPECT_EQ(lanes_kept(25, turn), std::set{32u}) << turn;
}

}  // namespace
}  // namespace cupola::cpu::build::testing
