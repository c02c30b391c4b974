#pragma once

#include <llvm/ADT/SmallVector.h>

#include "kir/call_reach.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
class PostDominatorTree;
}  // namespace llvm

namespace cupola::cpu::build {

/// The barriers of a thread's code, for those who want more of them.
class KernelBarriers {
 public:
  KernelBarriers(llvm::Function& function, const llvm::PostDominatorTree& post_dominators);

  /// Whether the block's threads wait for each other there alone, and all come to each of them together: one more takes
  /// nothing from them.
  bool are_all(const kir::CallReach& reach) const;
  /// The same, and all blocks of a row of the grid go the same ways to them.
  bool are_all_of_grid(const kir::CallReach& reach) const;

  /// Whether one of them is ahead, on all ways: whoever comes to the place meets the others once more.
  bool follow(const llvm::Instruction& place) const;

 private:
  bool nobody_waits_elsewhere(const kir::CallReach& reach) const;
  bool all_come_together(bool in_grid) const;

  llvm::Function& function_;
  const llvm::PostDominatorTree& post_dominators_;
  llvm::SmallVector<llvm::CallInst*, 4> all_;
};

/// Has the block's threads meet there.
void meet_before(llvm::Instruction& place);

}  // namespace cupola::cpu::build
