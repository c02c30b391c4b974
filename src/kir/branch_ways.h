#pragma once

#include <llvm/ADT/SetVector.h>

namespace llvm {
class BasicBlock;
class PostDominatorTree;
}  // namespace llvm

namespace cupola::kir {

/// Blocks in the order in which they were found.
using Ways = llvm::SmallSetVector<llvm::BasicBlock*, 16>;

/// Where all ways from the end of `block` meet for certain; null: nowhere before the code ends.
llvm::BasicBlock* end_of_ways(const llvm::BasicBlock* block, const llvm::PostDominatorTree& post_dominators);

/// What can be reached from `begin`, itself included, without passing `end`.
Ways ways_between(llvm::BasicBlock* begin, const llvm::BasicBlock* end);

/// What can be reached from the end of `block` before all ways meet.
Ways ways_from(llvm::BasicBlock* block, const llvm::PostDominatorTree& post_dominators);

}  // namespace cupola::kir
