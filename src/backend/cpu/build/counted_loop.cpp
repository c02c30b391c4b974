#include "backend/cpu/build/counted_loop.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/kernel_barriers.h"

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::CmpInst;
using llvm::Value;

bool is_order(CmpInst::Predicate predicate) {
  using enum CmpInst::Predicate;
  return predicate == ICMP_SLT || predicate == ICMP_SLE || predicate == ICMP_ULT || predicate == ICMP_ULE;
}

}  // namespace

std::optional<CountedLoop> counted_loop(const llvm::Loop& loop, llvm::ScalarEvolution& evolution,
                                        const llvm::PostDominatorTree& post_dominators,
                                        const KernelBarriers& barriers) {
  const BasicBlock *before = loop.getLoopPreheader(), *header = loop.getHeader();
  if (loop.getParentLoop() || !post_dominators.dominates(before, &header->getParent()->getEntryBlock()) ||
      !barriers.follow(*before->getTerminator()) || loop.getExitingBlock() != header || !loop.getExitBlock() ||
      header == loop.getLoopLatch())
    return std::nullopt;
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(header->getTerminator());
  const auto* test = branch ? llvm::dyn_cast<llvm::ICmpInst>(branch->getCondition()) : nullptr;
  if (!test) return std::nullopt;
  const bool ends = !loop.contains(branch->getSuccessor(0));
  CmpInst::Predicate goes_on = ends ? test->getInversePredicate() : test->getPredicate();
  Value *counter = test->getOperand(0), *end = test->getOperand(1);
  if (loop.isLoopInvariant(counter)) {
    std::swap(counter, end);
    goes_on = CmpInst::getSwappedPredicate(goes_on);
  }
  auto* phi = llvm::dyn_cast<llvm::PHINode>(counter);
  if (!is_order(goes_on) || !phi || phi->getParent() != header || !phi->getType()->isIntegerTy() ||
      !loop.isLoopInvariant(end))
    return std::nullopt;
  const auto* turns = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(phi));
  if (!turns || turns->getLoop() != &loop || !turns->isAffine()) return std::nullopt;
  return CountedLoop{goes_on, phi, turns, end};
}

}  // namespace cupola::cpu::build
