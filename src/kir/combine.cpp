#include "kir/combine.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>

namespace cupola::kir {
namespace {

using namespace llvm::PatternMatch;

constexpr unsigned kWidthOfHalves = 16;   // an integer of 11 digits within it is no more than 65504
constexpr int64_t kBeyondHalves = 65535;  // odd, and rounds to infinity

llvm::APInt limit(const llvm::Type* type, int64_t number) {
  return {type->getScalarSizeInBits(), static_cast<uint64_t>(number), /*isSigned=*/true};
}

bool is_bounded(llvm::Value* number, bool is_signed) {
  const llvm::APInt most = limit(number->getType(), kBeyondHalves), least = limit(number->getType(), -kBeyondHalves);
  if (match(number, m_UMin(m_Value(), m_SpecificInt(most)))) return true;
  return is_signed && (match(number, m_SMax(m_SMin(m_Value(), m_SpecificInt(most)), m_SpecificInt(least))) ||
                       match(number, m_SMin(m_SMax(m_Value(), m_SpecificInt(least)), m_SpecificInt(most))));
}

/// Nearer to zero than what half holds no more, with the same half.
llvm::Value* bounded(llvm::IRBuilderBase& b, llvm::Value* number, bool is_signed) {
  const auto constant = [&](int64_t value) {
    return llvm::ConstantInt::get(number->getType(), limit(number->getType(), value));
  };
  if (!is_signed) return b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, number, constant(kBeyondHalves));
  llvm::Value* below = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, constant(kBeyondHalves));
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, below, constant(-kBeyondHalves));
}

/// What is the same in half as `value`, in which integers are bounded where it chooses between such or is one; `value`
/// itself where there is nothing to be done.
llvm::Value* with_bounds(llvm::IRBuilderBase& b, llvm::Value* value, unsigned depth = 0) {
  constexpr unsigned kDeepest = 6;
  if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(value); choice && depth < kDeepest) {
    llvm::Value* yes = with_bounds(b, choice->getTrueValue(), depth + 1);
    llvm::Value* no = with_bounds(b, choice->getFalseValue(), depth + 1);
    const bool is_same = yes == choice->getTrueValue() && no == choice->getFalseValue();
    return is_same ? value : b.CreateSelect(choice->getCondition(), yes, no);
  }
  if (!llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(value)) return value;
  auto* conversion = llvm::cast<llvm::CastInst>(value);
  llvm::Value* integer = conversion->getOperand(0);
  const bool is_signed = conversion->getOpcode() == llvm::Instruction::SIToFP;
  if (integer->getType()->getScalarSizeInBits() <= kWidthOfHalves || is_bounded(integer, is_signed)) return value;
  return b.CreateCast(conversion->getOpcode(), bounded(b, integer, is_signed), value->getType());
}

struct BoundHalves : llvm::PassInfoMixin<BoundHalves> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager&) {
    bool changed = false;
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      if (!instruction.getType()->getScalarType()->isHalfTy()) continue;
      const bool narrows = llvm::isa<llvm::FPTruncInst>(instruction);
      if (!narrows && !llvm::isa<llvm::SIToFPInst, llvm::UIToFPInst>(instruction)) continue;
      llvm::Value* value = narrows ? instruction.getOperand(0) : &instruction;
      llvm::IRBuilder<> b(&instruction);
      llvm::Value* made = with_bounds(b, value);
      if (made == value) continue;
      changed = true;
      if (narrows) {
        instruction.setOperand(0, made);
      } else {
        instruction.replaceAllUsesWith(made);
        instruction.eraseFromParent();
      }
    }
    if (!changed) return llvm::PreservedAnalyses::all();
    llvm::PreservedAnalyses kept;
    kept.preserveSet<llvm::CFGAnalyses>();
    return kept;
  }
};

}  // namespace

void add_combine(llvm::FunctionPassManager& passes) {
  passes.addPass(BoundHalves());
  passes.addPass(llvm::InstCombinePass());
}

}  // namespace cupola::kir
