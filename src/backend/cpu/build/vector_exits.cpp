#include "backend/cpu/build/vector_exits.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/cpu/build/vector_shapes.h"
#include "kir/branch_ways.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;

BasicBlock* return_of(llvm::Function& function) {
  for (BasicBlock& block : function)
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator())) return &block;
  return nullptr;
}

bool is_sync(const llvm::Instruction& instruction) {
  return kir::effect_of(instruction) == kir::Effect::kSync;
}

bool syncs(const kir::Ways& blocks) {
  return llvm::any_of(blocks, [](const BasicBlock* block) { return llvm::any_of(*block, is_sync); });
}

/// The way of `branch` that becomes the detour; nothing where neither can.
std::optional<unsigned> choose_detour(llvm::BranchInst& branch, BasicBlock* end) {
  const kir::Ways ways[2] = {kir::ways_between(branch.getSuccessor(0), end),
                             kir::ways_between(branch.getSuccessor(1), end)};
  for (const kir::Ways& way : ways)
    if (way.contains(branch.getParent())) return std::nullopt;
  if (llvm::any_of(ways[0], [&](BasicBlock* block) { return ways[1].contains(block); })) return std::nullopt;
  for (unsigned i = 0; i < 2; ++i)
    if (ways[i].empty()) return i;
  for (unsigned i = 0; i < 2; ++i)
    if (!syncs(ways[i])) return i;
  return std::nullopt;
}

void make_detour(llvm::BranchInst& branch, unsigned way, BasicBlock* end, Exits& exits) {
  BasicBlock* begin = branch.getParent();
  llvm::LLVMContext& context = begin->getContext();
  // What goes on begins with a block of its own, where the detour rejoins it: the phis behind it keep their ways.
  BasicBlock* next = branch.getSuccessor(1 - way);
  BasicBlock* on = BasicBlock::Create(context, "stay", begin->getParent(), next);
  llvm::IRBuilder<>(on).CreateBr(next);
  next->replacePhiUsesWith(begin, on);
  branch.setSuccessor(1 - way, on);
  const kir::Ways detour = kir::ways_between(branch.getSuccessor(way), end);
  const auto leave = [&](BasicBlock* from, unsigned successor) {
    BasicBlock* exit = BasicBlock::Create(context, "leave", begin->getParent(), on);
    llvm::IRBuilder<>(exit).CreateBr(on);
    from->getTerminator()->setSuccessor(successor, exit);
    exits.insert(exit);
  };
  if (detour.empty()) leave(begin, way);
  for (BasicBlock* block : detour)
    for (unsigned i = 0; i < block->getTerminator()->getNumSuccessors(); ++i)
      if (block->getTerminator()->getSuccessor(i) == end) leave(block, i);
}

/// One step: true if a branch was rewritten.
bool separate_one(llvm::Function& function, BasicBlock* end, BlockClass blocks, Exits& exits) {
  const llvm::DominatorTree dominators(function);
  const llvm::PostDominatorTree post_dominators(function);
  const llvm::LoopInfo loops(dominators);
  const Shapes shapes(function, blocks, loops, post_dominators);
  for (BasicBlock& block : function) {
    if (kir::end_of_ways(&block, post_dominators) != end || !shapes.diverges(&block)) continue;
    auto& branch = llvm::cast<llvm::BranchInst>(*block.getTerminator());
    const auto way = choose_detour(branch, end);
    if (!way) continue;
    make_detour(branch, *way, end, exits);
    return true;
  }
  return false;
}

}  // namespace

Exits separate_exits(llvm::Function& function, BlockClass blocks) {
  Exits exits;
  if (BasicBlock* end = return_of(function))  // there is none where no thread ever comes to an end
    while (separate_one(function, end, blocks, exits)) {
    }
  return exits;
}

}  // namespace cupola::cpu::build
