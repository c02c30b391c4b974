#include "backend/cpu/build/first_threads.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include "backend/cpu/build/block_regions.h"
#include "backend/cpu/build/following_numbers.h"

namespace cupola::cpu::build {
namespace {

using namespace llvm::PatternMatch;
using llvm::BasicBlock;
using llvm::CmpInst;
using llvm::Value;

/// Threads are compared with that.
struct Bound {
  CmpInst::Predicate predicate;
  Value* value;
};

class FirstThreads {
 public:
  FirstThreads(const Value* first, llvm::function_ref<bool(Value*)> is_uniform)
      : first_(first), is_uniform_(is_uniform) {}

  /// What all lanes are below that the mask has, or lacks if they are `left_out`.
  std::optional<Bound> bound(Value* mask, bool left_out) const {
    Value *one, *other;
    if (match(mask, m_Freeze(m_Value(one)))) return bound(one, left_out);
    if (match(mask, m_Not(m_Value(one)))) return bound(one, !left_out);
    const bool is_and = match(mask, m_And(m_Value(one), m_Value(other)));
    if (is_and || match(mask, m_Or(m_Value(one), m_Value(other)))) {
      if (match(other, m_AllOnes()) || match(other, m_Zero())) std::swap(one, other);
      const bool is_neutral = is_and ? match(one, m_AllOnes()) : match(one, m_Zero());
      if (is_neutral) return bound(other, left_out);
      if (is_and == left_out) return std::nullopt;  // lanes of either
      const auto some = bound(one, left_out);
      return some ? some : bound(other, left_out);
    }
    llvm::CmpPredicate predicate;
    if (!match(mask, m_ICmp(predicate, m_Value(one), m_Value(other)))) return std::nullopt;
    if (left_out) predicate = CmpInst::getInversePredicate(predicate);
    if (first_of_following(other) == first_) {
      std::swap(one, other);
      predicate = CmpInst::getSwappedPredicate(predicate);
    }
    return first_of_following(one) == first_ ? bound(predicate, llvm::getSplatValue(other)) : std::nullopt;
  }

 private:
  std::optional<Bound> bound(CmpInst::Predicate predicate, Value* value) const {
    if (!value || !is_uniform_(value)) return std::nullopt;
    using enum CmpInst::Predicate;
    const bool is_below = predicate == ICMP_ULT || predicate == ICMP_ULE || predicate == ICMP_SLT ||
                          predicate == ICMP_SLE || (predicate == ICMP_EQ && match(value, m_ConstantInt()));
    return is_below ? std::optional(Bound{predicate, value}) : std::nullopt;
  }

  const Value* first_;  ///< threadIdx.x of the first lane
  llvm::function_ref<bool(Value*)> is_uniform_;
};

/// How many threads the comparison is true for, at most.
Value* count_of(llvm::IRBuilderBase& builder, const Bound& bound) {
  Value* one = llvm::ConstantInt::get(bound.value->getType(), 1);
  const auto limited = [&](llvm::Intrinsic::ID limit, int64_t least) {
    return builder.CreateBinaryIntrinsic(limit, bound.value, llvm::ConstantInt::getSigned(one->getType(), least));
  };
  using enum CmpInst::Predicate;
  switch (bound.predicate) {
    case ICMP_ULT:
      return bound.value;
    case ICMP_SLT:
      return limited(llvm::Intrinsic::smax, 0);
    case ICMP_SLE:
      return builder.CreateAdd(limited(llvm::Intrinsic::smax, -1), one);
    default:
      return limited(llvm::Intrinsic::uadd_sat, 1);
  }
}

/// The branch that the region comes to from its begin, whatever it does; null: there is none, or it does something
/// before.
llvm::BranchInst* branch_at_begin(const BlockRegion& region) {
  for (BasicBlock* block = region.begin; block != region.end;) {
    if (llvm::any_of(*block, [](const llvm::Instruction& one) { return one.mayHaveSideEffects(); })) return nullptr;
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (!branch || branch->isConditional()) return branch;
    block = branch->getSuccessor(0);
  }
  return nullptr;
}

bool does_nothing_from(const BasicBlock* block, const BlockRegion& region) {
  llvm::SmallPtrSet<const BasicBlock*, 8> seen;
  while (seen.insert(block).second) {
    if (llvm::any_of(*block, [](const llvm::Instruction& one) { return one.mayHaveSideEffects(); })) return false;
    if (block == region.end) return true;
    block = block->getSingleSuccessor();
    if (!block) return false;
  }
  return false;
}

}  // namespace

Value* acting_threads(const BlockRegion& region, const Value* first, llvm::function_ref<bool(Value*)> is_uniform) {
  llvm::BranchInst* branch = first ? branch_at_begin(region) : nullptr;
  if (!branch) return nullptr;
  llvm::CmpPredicate predicate;
  Value* mask;
  if (!match(branch->getCondition(), m_ICmp(predicate, m_BitCast(m_Value(mask)), m_Zero())) ||
      !llvm::CmpInst::isEquality(predicate) || !mask->getType()->isVectorTy())
    return nullptr;
  const unsigned none = predicate == llvm::CmpInst::ICMP_NE ? 1 : 0;
  if (!does_nothing_from(branch->getSuccessor(none), region)) return nullptr;
  const auto bound = FirstThreads(first, is_uniform).bound(mask, /*left_out=*/false);
  if (!bound) return nullptr;
  llvm::IRBuilder<> builder(region.end->getTerminator());
  return count_of(builder, *bound);
}

}  // namespace cupola::cpu::build
