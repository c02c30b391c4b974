#include "backend/cpu/build/vector_companions.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "image/thread_operations.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {

bool Companions::run_together(const llvm::BasicBlock* a, const llvm::BasicBlock* b) const {
  if (loops_.getLoopFor(a) != loops_.getLoopFor(b)) return false;
  return (dominators_.dominates(a, b) && post_dominators_.dominates(b, a)) ||
         (dominators_.dominates(b, a) && post_dominators_.dominates(a, b));
}

bool Companions::are_all_of(const llvm::Value* mask, const llvm::BasicBlock* block, unsigned depth) const {
  using namespace llvm::PatternMatch;
  using kir::Intrinsic;
  const llvm::Value *a = nullptr, *b = nullptr;
  if (depth == 0) return false;
  if (match(mask, m_And(m_Value(a), m_Value(b))))
    return are_all_of(a, block, depth - 1) || are_all_of(b, block, depth - 1);
  if (match(mask, m_Trunc(m_Value(a))) || match(mask, m_ZExt(m_Value(a)))) return are_all_of(a, block, depth - 1);
  const auto* call = llvm::dyn_cast<llvm::CallInst>(mask);
  const auto intrinsic = call ? kir::intrinsic_of(*call) : std::nullopt;
  if (!intrinsic || !run_together(call->getParent(), block)) return false;
  return *intrinsic == Intrinsic::ActiveMask || *intrinsic == Intrinsic::Match ||
         (*intrinsic == Intrinsic::Vote && kir::does(*call, image::VoteOp::Ballot));
}

}  // namespace cupola::cpu::build
