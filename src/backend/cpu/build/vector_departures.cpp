#include "backend/cpu/build/vector_departures.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/vector_companions.h"
#include "backend/cpu/build/vector_meetings.h"
#include "backend/cpu/build/vector_shapes.h"

// Blocks of a row are written in an order in which each comes after all that lead to it in the same turn of its loops.
// When one runs, a lane that is not there has therefore taken, earlier in this turn, an edge from which no way leads to
// the block in this turn, or has left a loop around it in an earlier one.

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using Blocks = llvm::SmallPtrSet<const BasicBlock*, 16>;

/// `blocks` and those from which they can be reached over edges that `is_taken(from, to)` allows.
template <typename IsTaken>
void add_ways_to(Blocks& blocks, IsTaken is_taken) {
  llvm::SmallVector<const BasicBlock*, 16> open(blocks.begin(), blocks.end());
  while (!open.empty()) {
    const BasicBlock* to = open.pop_back_val();
    for (const BasicBlock* from : llvm::predecessors(to))
      if (is_taken(from, to) && blocks.insert(from).second) open.push_back(from);
  }
}

}  // namespace

Departures::Departures(llvm::Function& function, const Shapes& shapes, const llvm::LoopInfo& loops,
                       const Companions& companions)
    : shapes_(shapes), loops_(loops), companions_(companions) {
  const auto waits = [&](const llvm::Instruction& one) { return meeting_of(one) && !has_own_members(one); };
  for (const BasicBlock& block : function)
    if (llvm::any_of(block, waits)) meets_.insert(&block);
  add_ways_to(meets_, [](const BasicBlock*, const BasicBlock*) { return true; });
}

/// Those who come to the operation meet nobody but each other.
bool Departures::has_own_members(const llvm::Instruction& operation) const {
  const auto meeting = meeting_of(operation);
  return meeting && names_members(*meeting) && companions_.are_all_of(operation.getOperand(0), operation.getParent());
}

bool Departures::may_miss_members(const llvm::CallInst& operation) const {
  const auto meeting = meeting_of(operation);
  const BasicBlock* block = operation.getParent();
  return meeting && names_members(*meeting) && shapes_.is_masked(block) && !has_own_members(operation) &&
         others_may_meet(block);
}

/// Whether lanes of the warp that are not there while others run a masked block may come to a meeting later; false:
/// each of them has left the kernel or is on its way out.
bool Departures::others_may_meet(const BasicBlock* block) const {
  const auto begins_turn = [&](const BasicBlock* from, const BasicBlock* to) {
    const llvm::Loop* loop = loops_.getLoopFor(to);
    return loop && loop->getHeader() == to && loop->contains(from) && loop->contains(block);
  };
  Blocks before;  // in this turn; and the block itself
  before.insert(block);
  add_ways_to(before, [&](const BasicBlock* from, const BasicBlock* to) { return !begins_turn(from, to); });
  for (const BasicBlock* from : before) {
    if (from == block || (!shapes_.is_masked(from) && !shapes_.diverges(from))) continue;
    for (const BasicBlock* to : llvm::successors(from))
      if (!before.contains(to) && !are_final(to)) return true;
  }
  for (const llvm::Loop* loop = loops_.getLoopFor(block); loop; loop = loop->getParentLoop()) {
    if (!shapes_.is_masked(loop->getHeader())) continue;
    llvm::SmallVector<BasicBlock*, 4> ends;
    loop->getExitBlocks(ends);
    if (!llvm::all_of(ends, [&](const BasicBlock* end) { return are_final(end); })) return true;
  }
  return false;
}

}  // namespace cupola::cpu::build
