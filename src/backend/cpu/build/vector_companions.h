#pragma once

namespace llvm {
class BasicBlock;
class DominatorTree;
class LoopInfo;
class PostDominatorTree;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Which lanes come to places together. The analyses outlive this.
class Companions {
 public:
  Companions(const llvm::LoopInfo& loops, const llvm::DominatorTree& dominators,
             const llvm::PostDominatorTree& post_dominators)
      : loops_(loops), dominators_(dominators), post_dominators_(post_dominators) {}

  /// The lanes that come to `a` are those that come to `b`.
  bool run_together(const llvm::BasicBlock* a, const llvm::BasicBlock* b) const;
  /// Whether `mask` names lanes only that run `block`: some of an active mask, a ballot or a match of the same place.
  bool are_all_of(const llvm::Value* mask, const llvm::BasicBlock* block) const { return are_all_of(mask, block, 8); }

 private:
  bool are_all_of(const llvm::Value* mask, const llvm::BasicBlock* block, unsigned depth) const;

  const llvm::LoopInfo& loops_;
  const llvm::DominatorTree& dominators_;
  const llvm::PostDominatorTree& post_dominators_;
};

}  // namespace cupola::cpu::build
