#include "backend/cpu/build/vector_departures.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

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
                       const Companions& companions, const Exits& exits)
    : shapes_(shapes), loops_(loops), companions_(companions) {
  llvm::SmallVector<const llvm::CallInst*, 8> under_divergence;  // of those that wait
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto meeting = meeting_of(instruction);
    if (!meeting || has_own_members(instruction)) continue;
    meets_.insert(instruction.getParent());
    if (is_of_warp(*meeting) && shapes.is_masked(instruction.getParent()))
      under_divergence.push_back(llvm::cast<llvm::CallInst>(&instruction));
  }
  add_ways_to(meets_, [&](const BasicBlock* from, const BasicBlock*) { return !exits.contains(from); });
  for (const llvm::CallInst* operation : under_divergence)
    if (others_may_meet(operation->getParent(), exits)) may_miss_.insert(operation);
}

/// Those who come to the operation meet nobody but each other.
bool Departures::has_own_members(const llvm::Instruction& operation) const {
  const auto meeting = meeting_of(operation);
  return meeting && names_members(*meeting) && companions_.are_all_of(operation.getOperand(0), operation.getParent());
}

/// Whether lanes of the warp that are not there while others run a masked block may come to a meeting later; false:
/// each of them has left the kernel or is on its way out.
bool Departures::others_may_meet(const BasicBlock* block, const Exits& exits) const {
  const auto begins_turn = [&](const BasicBlock* from, const BasicBlock* to) {
    const llvm::Loop* loop = loops_.getLoopFor(to);
    return loop && loop->getHeader() == to && loop->contains(from) && loop->contains(block);
  };
  Blocks before;  // in this turn; and the block itself
  before.insert(block);
  add_ways_to(before, [&](const BasicBlock* from, const BasicBlock* to) { return !begins_turn(from, to); });
  for (const BasicBlock* from : before) {
    if (from == block || exits.contains(from) || (!shapes_.is_masked(from) && !shapes_.diverges(from))) continue;
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
