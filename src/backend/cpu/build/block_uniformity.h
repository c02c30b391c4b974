#pragma once

#include <llvm/ADT/SetVector.h>

namespace llvm {
class BasicBlock;
class Function;
class PostDominatorTree;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Which values of a warp's code are the same for all of its block's warps, whenever all of them come there together.
class BlockUniformity {
 public:
  /// `varying`: the code's arguments that differ between a block's warps.
  BlockUniformity(llvm::Function& code, llvm::ArrayRef<llvm::Value*> varying,
                  const llvm::PostDominatorTree& post_dominators);

  /// Of a terminator: all warps go the same way.
  bool is_uniform(llvm::Value* value) const { return !varying_.contains(value); }

 private:
  void reach_branch(llvm::BasicBlock& block);

  const llvm::PostDominatorTree& post_dominators_;
  llvm::SetVector<llvm::Value*> varying_;  ///< also branches
};

}  // namespace cupola::cpu::build
