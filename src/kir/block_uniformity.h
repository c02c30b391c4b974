#pragma once

#include <llvm/ADT/ArrayRef.h>
#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/SetVector.h>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class PostDominatorTree;
class Value;
}  // namespace llvm

namespace cupola::kir {

/// Which values of code are the same for all who run it in a block (threads, or warps), whenever all of them come there
/// together.
class BlockUniformity {
 public:
  struct Questions {
    /// All of the block meet there, and get one result whatever they bring.
    llvm::function_ref<bool(const llvm::Instruction&)> is_meeting;
    /// It may differ though its operands do not. Not asked of meetings.
    llvm::function_ref<bool(const llvm::Instruction&)> differs_by_itself;
  };

  /// `varying`: values besides that differ within a block. The questions are asked here and not kept.
  BlockUniformity(llvm::Function& code, llvm::ArrayRef<llvm::Value*> varying,
                  const llvm::PostDominatorTree& post_dominators, const Questions& questions);

  /// Of a terminator: all go the same way.
  bool is_uniform(llvm::Value* value) const { return !varying_.contains(value); }

 private:
  void reach_branch(llvm::BasicBlock& block, const llvm::PostDominatorTree& post_dominators);

  llvm::SetVector<llvm::Value*> varying_;  ///< also branches
};

}  // namespace cupola::kir
