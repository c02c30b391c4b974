#include "backend/cpu/build/following_numbers.h"

#include <llvm/Analysis/SimplifyQuery.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

namespace cupola::cpu::build {
namespace {

using namespace llvm::PatternMatch;
using llvm::Value;

/// 0, 1, 2 and so on.
bool are_lanes(const llvm::Constant& numbers) {
  const auto* known = llvm::dyn_cast<llvm::ConstantDataVector>(&numbers);
  if (!known || !known->getElementType()->isIntegerTy()) return false;
  for (unsigned lane = 0; lane < known->getNumElements(); ++lane)
    if (known->getElementAsInteger(lane) != lane) return false;
  return true;
}

/// What all lanes have, frozen or not: of what is poison, which a program may not come to, each lane may have another.
Value* splat_of(Value* all) {
  Value* frozen;
  return llvm::getSplatValue(match(all, m_Freeze(m_Value(frozen))) ? frozen : all);
}

/// Whether lanes' numbers can be set in it as bits: a freeze of what is combined so forgets that they can.
bool has_room_for_lanes(const Value& one, const llvm::Instruction& user) {
  const uint64_t lanes = llvm::cast<llvm::FixedVectorType>(user.getType())->getNumElements();
  const auto bits = llvm::APInt(one.getType()->getScalarSizeInBits(), llvm::NextPowerOf2(lanes - 1) - 1);
  return llvm::MaskedValueIsZero(&one, bits, llvm::SimplifyQuery(user.getDataLayout()));
}

}  // namespace

Value* first_of_following(Value* numbers) {
  Value* all;
  llvm::Constant* lanes;
  const bool is_sum = match(numbers, m_c_Add(m_Value(all), m_Constant(lanes))) ||
                      match(numbers, m_c_DisjointOr(m_Value(all), m_Constant(lanes)));
  if (!is_sum && !match(numbers, m_c_Or(m_Value(all), m_Constant(lanes)))) return nullptr;
  if (!are_lanes(*lanes)) return nullptr;
  Value* first = splat_of(all);
  return first && (is_sum || has_room_for_lanes(*first, *llvm::cast<llvm::Instruction>(numbers))) ? first : nullptr;
}

}  // namespace cupola::cpu::build
