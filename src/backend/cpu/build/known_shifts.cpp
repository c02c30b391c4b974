#include "backend/cpu/build/known_shifts.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include <optional>

namespace cupola::cpu::build {
namespace {

using llvm::APInt;
using llvm::Value;
using namespace llvm::PatternMatch;

/// `is_within ? (number shifted by distance) & left : 0`, where is_within says that the distance is less than the bits
/// that a number has.
struct KnownShift {
  llvm::SelectInst* choice;
  llvm::BinaryOperator* shift;
  Value* distance;  ///< an integer, also where the shift is a row's
  Value* is_within;
  APInt left;
};

/// Nothing: it is another choice, or one that has to be made for each lane or turn.
std::optional<KnownShift> known_shift(llvm::SelectInst& choice, const llvm::LoopInfo& loops) {
  llvm::Type* type = choice.getType();
  if (!type->isIntOrIntVectorTy() || !choice.getCondition()->getType()->isIntegerTy(1) ||
      !match(choice.getFalseValue(), m_Zero()))
    return std::nullopt;
  const unsigned bits = type->getScalarSizeInBits();
  if (!llvm::isPowerOf2_32(bits)) return std::nullopt;
  KnownShift known{&choice, nullptr, nullptr, choice.getCondition(), APInt::getAllOnes(bits)};
  Value *shifted = choice.getTrueValue(), *all_bits = nullptr;
  const APInt* left = nullptr;
  if (match(shifted, m_And(m_Value(all_bits), m_APInt(left)))) {
    shifted = all_bits;
    known.left = *left;
  }
  known.shift = llvm::dyn_cast<llvm::BinaryOperator>(shifted);
  if (!known.shift || !known.shift->isLogicalShift()) return std::nullopt;
  Value* distance = known.shift->getOperand(1);
  known.distance = type->isVectorTy() ? llvm::getSplatValue(distance) : distance;
  if (!known.distance || llvm::isa<llvm::Constant>(known.distance) ||
      !match(known.is_within,
             m_SpecificICmp(llvm::ICmpInst::ICMP_ULT, m_Specific(known.distance), m_SpecificInt(bits))))
    return std::nullopt;
  if (type->isVectorTy()) return known;
  const llvm::Loop* loop = loops.getLoopFor(choice.getParent());
  return loop && loop->isLoopInvariant(known.distance) ? std::optional(known) : std::nullopt;
}

void write(const KnownShift& known) {
  llvm::Type* type = known.choice->getType();
  llvm::IRBuilder<> builder(known.choice);
  const auto row = [&](Value* number) {
    const auto* lanes = llvm::dyn_cast<llvm::FixedVectorType>(type);
    return lanes ? builder.CreateVectorSplat(lanes->getNumElements(), number) : number;
  };
  llvm::Type* number = type->getScalarType();
  Value* bits_left = builder.CreateSelect(known.is_within, llvm::ConstantInt::get(number, known.left),
                                          llvm::ConstantInt::get(number, 0));
  Value* safe = builder.CreateAnd(known.distance, type->getScalarSizeInBits() - 1);
  Value* shifted = builder.CreateBinOp(known.shift->getOpcode(), known.shift->getOperand(0), row(safe));
  known.choice->replaceAllUsesWith(builder.CreateAnd(shifted, row(bits_left)));
}

}  // namespace

void shift_by_known_distances(llvm::Function& function) {
  const llvm::DominatorTree dominators(function);
  const llvm::LoopInfo loops(dominators);
  llvm::SmallVector<llvm::WeakTrackingVH, 16> old;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* choice = llvm::dyn_cast<llvm::SelectInst>(&instruction))
      if (const auto known = known_shift(*choice, loops)) {
        write(*known);
        old.push_back(choice);
      }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(old);
}

}  // namespace cupola::cpu::build
