#include "backend/cpu/build/written_out_loops.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "backend/cpu/build/crowded_loops.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/written_out_gathers.h"

namespace cupola::cpu::build {
namespace {

void mark(llvm::Loop& loop) {
  llvm::LLVMContext& context = loop.getHeader()->getContext();
  llvm::MDNode* all = llvm::MDNode::get(context, llvm::MDString::get(context, "llvm.loop.unroll.full"));
  loop.setLoopID(llvm::makePostTransformationMetadata(context, loop.getLoopID(), {"llvm.loop.unroll."}, {all}));
}

/// Of a loop that may be left earlier too; 0: not known.
unsigned most_turns(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  llvm::SmallVector<llvm::BasicBlock*, 4> leaving;
  loop.getExitingBlocks(leaving);
  unsigned most = 0;
  for (llvm::BasicBlock* block : leaving)
    if (const unsigned turns = evolution.getSmallConstantTripCount(&loop, block); turns > 0)
      most = most == 0 ? turns : std::min(most, turns);
  return most;
}

/// What it keeps takes all registers, so that of several turns together they would be read and written again and again.
bool fills_registers(const llvm::Loop& loop, const llvm::TargetTransformInfo& target) {
  const CarriedRegisters registers = registers_for_turns(loop, target);
  return registers.needed >= registers.there_are;
}

/// Whether all lanes write where their numbers say: each turn is long then, a store for each lane.
bool scatters(const llvm::Loop& loop) {
  return llvm::any_of(loop.blocks(),
                      [](const llvm::BasicBlock* block) { return llvm::any_of(*block, scatters_all_lanes); });
}

/// Whether it writes what is made of what lay there.
bool updates(const llvm::Instruction& instruction) {
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  const auto* made = store ? llvm::dyn_cast<llvm::Instruction>(store->getValueOperand()) : nullptr;
  return made && !made->getType()->isVectorTy() && llvm::any_of(made->operands(), [&](const llvm::Value* operand) {
           const auto* load = llvm::dyn_cast<llvm::LoadInst>(operand);
           return load && load->getPointerOperand() == store->getPointerOperand();
         });
}

/// Whether all lanes update memory, one after the other: likewise.
bool updates_lane_by_lane(const llvm::Loop& loop) {
  size_t count = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) count += llvm::count_if(*block, updates);
  return count >= kLanes;
}

}  // namespace

llvm::PreservedAnalyses MarkLoopsToWriteOut::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  llvm::LoopInfo& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  llvm::ScalarEvolution& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const auto& target = analyses.getResult<llvm::TargetIRAnalysis>(function);
  llvm::DenseMap<const llvm::Loop*, uint64_t> written_out;  ///< how many instructions they become
  uint64_t all = function.getInstructionCount();
  for (llvm::Loop* loop : llvm::reverse(loops.getLoopsInPreorder())) {
    if (!llvm::all_of(loop->getSubLoops(), [&](llvm::Loop* inner) { return written_out.contains(inner); })) continue;
    if (loop->isInnermost() && (fills_registers(*loop, target) || scatters(*loop) || updates_lane_by_lane(*loop)))
      continue;
    uint64_t once = 0;
    for (llvm::BasicBlock* block : loop->blocks())
      if (loops.getLoopFor(block) == loop) once += block->size();
    for (llvm::Loop* inner : loop->getSubLoops()) once += written_out.lookup(inner);
    const uint64_t turns = most_turns(*loop, evolution);
    if (turns < 2 || once * turns > (loop->isInnermost() ? kMostOfInnermost : kMostOfLoop) ||
        all + once * (turns - 1) > kMostOfFunction)
      continue;
    all += once * (turns - 1);
    written_out[loop] = once * turns;
    mark(*loop);
  }
  return written_out.empty() ? llvm::PreservedAnalyses::all() : llvm::PreservedAnalyses::allInSet<llvm::CFGAnalyses>();
}

}  // namespace cupola::cpu::build
