#include "backend/cpu/build/block_uniformity.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/block_votes.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "kir/branch_ways.h"

namespace cupola::cpu::build {
namespace {

/// Memory that keeps what it holds while the kernel runs.
bool reads_what_stays(const llvm::LoadInst& load) {
  if (!load.isSimple()) return false;
  if (load.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return true;
  const auto* parameter = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return parameter && parameter->hasByValAttr();
}

/// It may differ though its operands do not.
bool differs_by_itself(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return !reads_what_stays(*load);
  if (is_block_barrier(instruction)) return false;  // it gives all of them one result
  return instruction.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(instruction);
}

}  // namespace

BlockUniformity::BlockUniformity(llvm::Function& code, llvm::ArrayRef<llvm::Value*> varying,
                                 const llvm::PostDominatorTree& post_dominators)
    : post_dominators_(post_dominators), varying_(varying.begin(), varying.end()) {
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (differs_by_itself(instruction)) varying_.insert(&instruction);
  for (size_t i = 0; i < varying_.size(); ++i)
    for (llvm::User* user : varying_[i]->users()) {
      auto& instruction = llvm::cast<llvm::Instruction>(*user);
      if (is_block_barrier(instruction) || !varying_.insert(&instruction)) continue;
      if (instruction.isTerminator()) reach_branch(*instruction.getParent());
    }
}

/// Warps that go different ways from its end, or leave a loop at different turns: what they did there, as it is seen
/// elsewhere.
void BlockUniformity::reach_branch(llvm::BasicBlock& block) {
  const kir::Ways ways = kir::ways_from(&block, post_dominators_);
  const auto is_elsewhere = [&](const llvm::User* user) {
    return !ways.contains(llvm::cast<llvm::Instruction>(user)->getParent());
  };
  for (llvm::BasicBlock* reached : ways)
    for (llvm::Instruction& instruction : *reached)
      if (llvm::isa<llvm::PHINode>(instruction) || llvm::any_of(instruction.users(), is_elsewhere))
        varying_.insert(&instruction);
  if (llvm::BasicBlock* end = kir::end_of_ways(&block, post_dominators_))
    for (llvm::PHINode& phi : end->phis()) varying_.insert(&phi);
}

}  // namespace cupola::cpu::build
