#include "backend/cpu/build/turn_vectors.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/IndVarSimplify.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>
#include <llvm/Transforms/Vectorize/LoopVectorize.h>

#include "kir/combine.h"
#include "kir/pass_analyses.h"

namespace cupola::cpu::build {
namespace {

/// What a turn leaves to the next.
bool goes_on_with_a_float(const llvm::Loop& loop) {
  return llvm::any_of(loop.getHeader()->phis(),
                      [](const llvm::PHINode& each) { return each.getType()->isFPOrFPVectorTy(); });
}

/// LLVM joins lanes' sums in another order, and leaves that of zeros open where it joins their minima.
void leave_loops_of_floats(const llvm::LoopInfo& loops) {
  for (llvm::Loop* loop : loops.getLoopsInPreorder())
    if (loop->isInnermost() && goes_on_with_a_float(*loop))
      llvm::addStringMetadataToLoop(loop, "llvm.loop.vectorize.enable", 0);
}

/// Of one thread's, which are no promise where others do the same.
void forget_scopes(llvm::Function& function) {
  for (llvm::Instruction& each : llvm::instructions(function)) {
    each.setMetadata(llvm::LLVMContext::MD_alias_scope, nullptr);
    each.setMetadata(llvm::LLVMContext::MD_noalias, nullptr);
  }
}

}  // namespace

bool may_take_turns_in_vectors(llvm::Function& alone) {
  const llvm::DominatorTree dominators(alone);
  const llvm::LoopInfo loops(dominators);
  return llvm::any_of(loops.getLoopsInPreorder(),
                      [](const llvm::Loop* loop) { return loop->isInnermost() && !goes_on_with_a_float(*loop); });
}

void take_turns_in_vectors(llvm::Function& alone, const llvm::TargetMachine& machine) {
  if (!may_take_turns_in_vectors(alone)) return;
  llvm::TargetLibraryInfoImpl no_library(machine.getTargetTriple());
  no_library.disableAllFunctions();
  kir::PassAnalyses analyses(&machine, std::move(no_library));
  llvm::FunctionPassManager form;  // in which the vectoriser knows loops: asked at their end, counted by 64 bits
  form.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LoopRotatePass()));
  form.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::IndVarSimplifyPass()));
  form.run(alone, analyses.functions);
  leave_loops_of_floats(analyses.functions.getResult<llvm::LoopAnalysis>(alone));
  llvm::FunctionPassManager vectors;
  vectors.addPass(llvm::LoopVectorizePass());
  kir::add_combine(vectors);
  vectors.addPass(llvm::SimplifyCFGPass());
  vectors.run(alone, analyses.functions);
  forget_scopes(alone);
}

}  // namespace cupola::cpu::build
