#include "backend/cpu/build/kernel_barriers.h"

#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include "backend/cpu/build/polling.h"
#include "backend/cpu/build/vector_steps.h"
#include "kir/block_uniformity.h"
#include "kir/branch_ways.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;

bool is_barrier(const llvm::Instruction& instruction) {
  const auto known = kir::intrinsic_of(instruction);
  return known == kir::Intrinsic::Barrier || known == kir::Intrinsic::BarrierReduce;
}

/// Or does what is not known here.
bool waits_otherwise(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (!call || llvm::isa<llvm::IntrinsicInst>(call)) return false;
  const auto known = kir::intrinsic_of(instruction);
  using enum kir::Intrinsic;
  if (!known || known == BarrierArrive || known == GridSync || known == Nanosleep) return true;
  using llvm::PatternMatch::match, llvm::PatternMatch::m_Zero;
  return is_barrier(instruction) &&
         (!match(call->getArgOperand(0), m_Zero()) || !match(call->getArgOperand(1), m_Zero()));
}

/// Whether it may differ between threads of a block though its operands do not.
bool differs_by_itself(const llvm::Instruction& instruction) {
  if (const auto known = kir::intrinsic_of(instruction)) {
    using enum kir::Intrinsic;
    if (is_place_or_size(*known)) return known == TidX || known == TidY || known == TidZ;
    return kir::effect_of(*known) != kir::Effect::kPure ||
           instruction.getNumOperands() < 2;  // the last one is who is called
  }
  if (llvm::isa<llvm::LoadInst>(instruction)) return !instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
  return instruction.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(instruction);
}

/// The same, between threads of blocks beside each other.
bool differs_in_grid(const llvm::Instruction& instruction) {
  return kir::intrinsic_of(instruction) == kir::Intrinsic::CtaidX || differs_by_itself(instruction);
}

}  // namespace

KernelBarriers::KernelBarriers(llvm::Function& function, const llvm::PostDominatorTree& post_dominators)
    : function_(function), post_dominators_(post_dominators) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (is_barrier(instruction)) all_.push_back(llvm::cast<llvm::CallInst>(&instruction));
}

bool KernelBarriers::are_all(const kir::CallReach& reach) const {
  return nobody_waits_elsewhere(reach) && all_come_together(/*in_grid=*/false);
}

bool KernelBarriers::are_all_of_grid(const kir::CallReach& reach) const {
  return nobody_waits_elsewhere(reach) && all_come_together(/*in_grid=*/true);
}

bool KernelBarriers::follow(const llvm::Instruction& place) const {
  return llvm::any_of(all_, [&](const llvm::CallInst* barrier) {
    if (barrier->getParent() == place.getParent()) return &place == barrier || place.comesBefore(barrier);
    return post_dominators_.dominates(barrier->getParent(), place.getParent());
  });
}

bool KernelBarriers::nobody_waits_elsewhere(const kir::CallReach& reach) const {
  return !all_.empty() && llvm::none_of(llvm::instructions(function_), waits_otherwise) &&
         waiting_loops(function_, reach).empty();
}

bool KernelBarriers::all_come_together(bool in_grid) const {
  const auto is_meeting = [&](const llvm::Instruction& each) { return !in_grid && is_barrier(each); };  // of the block
  const kir::BlockUniformity uniformity(function_, {}, post_dominators_,
                                        {is_meeting, in_grid ? differs_in_grid : differs_by_itself});
  return llvm::all_of(function_, [&](BasicBlock& block) {
    if (block.getTerminator()->getNumSuccessors() < 2 || uniformity.is_uniform(block.getTerminator())) return true;
    const kir::Ways ways = kir::ways_from(&block, post_dominators_);
    return llvm::none_of(all_, [&](llvm::CallInst* barrier) { return ways.contains(barrier->getParent()); });
  });
}

void meet_before(llvm::Instruction& place) {
  llvm::IRBuilder<> builder(&place);
  llvm::Value* zero = builder.getInt32(0);
  builder.CreateCall(kir::declare(*place.getModule(), kir::Intrinsic::Barrier), {zero, zero});
}

}  // namespace cupola::cpu::build
