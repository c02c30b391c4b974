#include "backend/cpu/build/coroutine_frame.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Coroutines/CoroInstr.h>
#include <llvm/Transforms/Utils/LCSSA.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>

#include "kir/pass_analyses.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Value;

/// A conversion of a value to its own type, which marks a place where the frame is read or written; passes drop it
/// later.
llvm::Instruction* copy_at(Value* value, BasicBlock::iterator place) {
  return llvm::CastInst::Create(llvm::Instruction::BitCast, value, value->getType(), value->getName(), place);
}
bool is_copy(const llvm::Instruction& instruction) {
  const auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
  return cast && cast->getSrcTy() == cast->getDestTy();
}

/// What the loop takes from before.
void read_before(llvm::Loop& loop) {
  BasicBlock* before = loop.getLoopPreheader();
  if (!before) return;
  llvm::MapVector<Value*, llvm::SmallVector<llvm::Use*, 4>> taken;
  for (BasicBlock* block : loop.blocks())
    for (llvm::Instruction& user : *block)
      for (llvm::Use& use : user.operands()) {
        const bool is_outside = llvm::isa<llvm::Argument, llvm::Instruction>(use) && loop.isLoopInvariant(use);
        if (is_outside && !llvm::isa<llvm::AllocaInst>(use) && !use->getType()->isTokenTy()) taken[use].push_back(&use);
      }
  for (auto& [value, uses] : taken) {
    llvm::Instruction* copy = copy_at(value, before->getTerminator()->getIterator());
    for (llvm::Use* use : uses) use->set(copy);
  }
}

/// What the loop, which is in LCSSA form, leaves behind.
void write_behind(const llvm::Loop& loop) {
  llvm::SmallVector<BasicBlock*, 4> exits;
  loop.getUniqueExitBlocks(exits);
  for (BasicBlock* exit : exits)
    for (llvm::PHINode& left : exit->phis()) {
      llvm::Instruction* copy = copy_at(&left, exit->getFirstInsertionPt());
      left.replaceUsesWithIf(copy, [&](const llvm::Use& use) { return use.getUser() != copy; });
    }
}

}  // namespace

void keep_frame_out_of_loops(llvm::Function& coroutine, llvm::TargetMachine& machine) {
  kir::PassAnalyses analyses(&machine);
  llvm::FunctionPassManager form;
  form.addPass(llvm::LoopSimplifyPass());
  form.addPass(llvm::LCSSAPass());
  form.run(coroutine, analyses.functions);
  const auto stops = [](const llvm::Instruction& one) { return llvm::isa<llvm::AnyCoroSuspendInst>(one); };
  for (llvm::Loop* loop : loops_between_stops(analyses.functions.getResult<llvm::LoopAnalysis>(coroutine), stops)) {
    read_before(*loop);
    write_behind(*loop);
  }
}

llvm::SmallVector<llvm::Loop*, 8> loops_between_stops(llvm::LoopInfo& loops,
                                                      llvm::function_ref<bool(const llvm::Instruction&)> stops) {
  llvm::SmallPtrSet<const llvm::Loop*, 8> stopping;
  llvm::SmallVector<llvm::Loop*, 8> result;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    const llvm::Loop* outer = loop->getParentLoop();
    if (llvm::any_of(loop->blocks(), [&](const BasicBlock* block) { return llvm::any_of(*block, stops); }))
      stopping.insert(loop);
    else if (!outer || stopping.contains(outer))
      result.push_back(loop);
  }
  return result;
}

bool is_recomputed(llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->hasMetadata(llvm::LLVMContext::MD_invariant_load);
  if (is_copy(instruction)) return false;
  return llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::BinaryOperator, llvm::CmpInst, llvm::SelectInst,
                   llvm::ShuffleVectorInst, llvm::InsertElementInst>(instruction);
}

}  // namespace cupola::cpu::build
