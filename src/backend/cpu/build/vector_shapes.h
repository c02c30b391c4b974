#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>

#include "backend/cpu/build/vector_shape.h"

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Loop;
class LoopInfo;
class PHINode;
class PostDominatorTree;
class Value;
}  // namespace llvm

// How values differ between the 32 lanes of a warp that run a kernel together, and which blocks not all of them run.
// The kernel is in the form that prepare_for_lanes gives it: one return, loops with one latch, branches of two ways.
// Lanes that have left the kernel go along with the others and take part in nothing.

namespace cupola::cpu::build {

class Shapes {
 public:
  /// The function's blocks do not change while it lives.
  Shapes(llvm::Function& function, BlockClass blocks, const llvm::LoopInfo& loops,
         const llvm::PostDominatorTree& post_dominators);

  /// The value where it is computed.
  Shape of(const llvm::Value* value) const;
  /// The value as `user` sees it: lanes that left a loop at different turns hold values of different turns.
  Shape at(const llvm::Value* value, const llvm::BasicBlock* user) const;

  /// True when some lanes may be elsewhere while others run the block.
  bool is_masked(const llvm::BasicBlock* block) const { return masked_.contains(block); }
  /// True when lanes go different ways at its end.
  bool diverges(const llvm::BasicBlock* block) const;
  /// The outermost loop with `value` in it and `user` outside that lanes may leave at different turns; null: none.
  const llvm::Loop* left_apart(const llvm::Value* value, const llvm::BasicBlock* user) const;

 private:
  bool propagate();
  bool find_masked();
  Shape transfer(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_operands(const llvm::Instruction& instruction) const;

  Shape of_bits(const llvm::Instruction& instruction) const;
  Shape of_comparison(const llvm::Instruction& instruction) const;

  llvm::Function& function_;
  const BlockClass blocks_;
  const llvm::LoopInfo& loops_;
  const llvm::PostDominatorTree& post_dominators_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> masked_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> joins_;  ///< unmasked blocks where lanes come together
};

}  // namespace cupola::cpu::build
