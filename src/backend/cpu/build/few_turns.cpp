#include "backend/cpu/build/few_turns.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Utils/UnrollLoop.h>

#include "backend/cpu/build/vector_steps.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

constexpr unsigned kMostTurns = 8;
constexpr size_t kMostInstructions = 600;  // that a loop becomes

/// Threads meet there, or what they do is more than an access.
bool takes_part_with_others(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return call && (call->isConvergent() || kir::effect_of(*call) == kir::Effect::kSync);
}

/// How often the loop's header is run at most; 0: it stays a loop.
unsigned most_turns(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost() || !loop.getExitingBlock() || evolution.getSmallConstantTripCount(&loop) != 0) return 0;
  const unsigned turns = evolution.getSmallConstantMaxTripCount(&loop);
  if (turns < 2 || turns > kMostTurns + 1) return 0;  // the header asks once more
  size_t instructions = 0;
  for (const llvm::BasicBlock* block : loop.blocks()) {
    if (llvm::any_of(*block, takes_part_with_others)) return 0;
    instructions += block->size();
  }
  return instructions * turns <= kMostInstructions ? turns : 0;
}

}  // namespace

bool write_out_few_turns(llvm::Function& function) {
  llvm::DominatorTree dominators(function);
  llvm::LoopInfo loops(dominators);
  Evolution evolution(function, loops, dominators);
  llvm::AssumptionCache assumptions(function);
  const llvm::TargetTransformInfo nobodys_costs(function.getDataLayout());
  llvm::OptimizationRemarkEmitter remarks(&function);
  bool some = false;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const unsigned turns = most_turns(*loop, *evolution);
    if (turns == 0) continue;
    llvm::formLCSSA(*loop, dominators, &loops, &*evolution);  // each copy has its own exit
    const llvm::UnrollLoopOptions all{.Count = turns,
                                      .Force = true,
                                      .Runtime = false,
                                      .AllowExpensiveTripCount = false,
                                      .UnrollRemainder = false,
                                      .ForgetAllSCEV = true,
                                      .SCEVExpansionBudget = 0};
    some |= llvm::UnrollLoop(loop, all, &loops, &*evolution, &dominators, &assumptions, &nobodys_costs, &remarks,
                             /*PreserveLCSSA=*/false) != llvm::LoopUnrollResult::Unmodified;
  }
  return some;
}

}  // namespace cupola::cpu::build
