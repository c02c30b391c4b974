#include "backend/cpu/build/row_questions.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/PatternMatch.h>

#include "backend/cpu/build/following_numbers.h"

namespace cupola::cpu::build {

using namespace llvm::PatternMatch;
using llvm::CmpInst;
using llvm::Value;

std::optional<Below> below(Value* mask) {
  llvm::CmpPredicate predicate;
  Value *numbers, *bounds;
  if (!match(mask, m_ICmp(predicate, m_Value(numbers), m_Value(bounds))) &&
      !match(mask, m_Freeze(m_ICmp(predicate, m_Value(numbers), m_Value(bounds)))))
    return std::nullopt;
  CmpInst::Predicate which = predicate;
  if (which == CmpInst::ICMP_UGT || which == CmpInst::ICMP_SGT) {
    std::swap(numbers, bounds);
    which = CmpInst::getSwappedPredicate(which);
  }
  if (which != CmpInst::ICMP_ULT && which != CmpInst::ICMP_SLT) return std::nullopt;
  Value *first = first_of_following(numbers), *bound = llvm::getSplatValue(bounds);
  if (!first || !bound) return std::nullopt;
  const uint64_t last = llvm::cast<llvm::FixedVectorType>(numbers->getType())->getNumElements() - 1;
  return Below{first, last, bound, which == CmpInst::ICMP_SLT};
}

Value* Limits::is_whole(llvm::IRBuilderBase& builder, const Below& row, Value* first) {
  Value* limit = of(row);
  return builder.CreateFreeze(row.is_signed ? builder.CreateICmpSLT(first, limit)
                                            : builder.CreateICmpULT(first, limit));
}

/// Behind the bound: what the first number is below where the last one is below the bound.
Value* Limits::of(const Below& row) {
  Value*& limit = limits_[{row.bound, 2 * row.last + row.is_signed}];
  if (limit) return limit;
  llvm::BasicBlock::iterator place = function_.getEntryBlock().getFirstInsertionPt();
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(row.bound)) place = *made->getInsertionPointAfterDef();
  llvm::IRBuilder<> builder(place->getParent(), place);
  return limit = builder.CreateBinaryIntrinsic(row.is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat,
                                               row.bound, llvm::ConstantInt::get(row.bound->getType(), row.last));
}

std::optional<Question> question(llvm::Instruction& end) {
  Value* mask;
  if (auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&end)) {
    if (!match(choice->getCondition(), m_BitCast(m_Value(mask)))) return std::nullopt;
    for (const auto& one : choice->cases())
      if (one.getCaseValue()->isMinusOne()) return Question{mask, one.getCaseSuccessor()};
    return std::nullopt;
  }
  auto* branch = llvm::dyn_cast<llvm::BranchInst>(&end);
  llvm::CmpPredicate predicate;
  if (!branch || branch->isUnconditional() ||
      !match(branch->getCondition(), m_ICmp(predicate, m_BitCast(m_Value(mask)), m_AllOnes())) ||
      !CmpInst::isEquality(predicate))
    return std::nullopt;
  return Question{mask, branch->getSuccessor(predicate == CmpInst::ICMP_EQ ? 0 : 1)};
}

}  // namespace cupola::cpu::build
