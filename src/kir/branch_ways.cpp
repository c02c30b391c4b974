#include "kir/branch_ways.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/CFG.h>

namespace cupola::kir {
namespace {

void follow(Ways& ways, const llvm::BasicBlock* end) {
  ways.remove_if([&](const llvm::BasicBlock* block) { return block == end; });
  for (size_t i = 0; i < ways.size(); ++i)
    for (llvm::BasicBlock* next : llvm::successors(ways[i]))
      if (next != end) ways.insert(next);
}

}  // namespace

llvm::BasicBlock* end_of_ways(const llvm::BasicBlock* block, const llvm::PostDominatorTree& post_dominators) {
  const auto* node = post_dominators.getNode(block);
  return node && node->getIDom() ? node->getIDom()->getBlock() : nullptr;
}

Ways ways_between(llvm::BasicBlock* begin, const llvm::BasicBlock* end) {
  Ways ways;
  ways.insert(begin);
  follow(ways, end);
  return ways;
}

Ways ways_from(llvm::BasicBlock* block, const llvm::PostDominatorTree& post_dominators) {
  Ways ways(llvm::succ_begin(block), llvm::succ_end(block));
  follow(ways, end_of_ways(block, post_dominators));
  return ways;
}

}  // namespace cupola::kir
