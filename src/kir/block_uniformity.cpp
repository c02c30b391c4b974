#include "kir/block_uniformity.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "kir/branch_ways.h"

namespace cupola::kir {

BlockUniformity::BlockUniformity(llvm::Function& code, llvm::ArrayRef<llvm::Value*> varying,
                                 const llvm::PostDominatorTree& post_dominators, const Questions& questions)
    : varying_(varying.begin(), varying.end()) {
  for (llvm::Instruction& instruction : llvm::instructions(code))
    if (!questions.is_meeting(instruction) && questions.differs_by_itself(instruction)) varying_.insert(&instruction);
  for (size_t i = 0; i < varying_.size(); ++i)
    for (llvm::User* user : varying_[i]->users()) {
      auto& instruction = llvm::cast<llvm::Instruction>(*user);
      if (questions.is_meeting(instruction) || !varying_.insert(&instruction)) continue;
      if (instruction.isTerminator()) reach_branch(*instruction.getParent(), post_dominators);
    }
}

/// Those that go different ways from its end, or leave a loop at different turns: what they did there, as it is seen
/// elsewhere.
void BlockUniformity::reach_branch(llvm::BasicBlock& block, const llvm::PostDominatorTree& post_dominators) {
  const Ways ways = ways_from(&block, post_dominators);
  const auto is_elsewhere = [&](const llvm::User* user) {
    return !ways.contains(llvm::cast<llvm::Instruction>(user)->getParent());
  };
  for (llvm::BasicBlock* reached : ways)
    for (llvm::Instruction& instruction : *reached)
      if (llvm::isa<llvm::PHINode>(instruction) || llvm::any_of(instruction.users(), is_elsewhere))
        varying_.insert(&instruction);
  if (llvm::BasicBlock* end = end_of_ways(&block, post_dominators))
    for (llvm::PHINode& phi : end->phis()) varying_.insert(&phi);
}

}  // namespace cupola::kir
