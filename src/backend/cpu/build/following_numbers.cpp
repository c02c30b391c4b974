#include "backend/cpu/build/following_numbers.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/PatternMatch.h>

namespace cupola::cpu::build {

llvm::Value* first_of_following(llvm::Value* numbers) {
  using namespace llvm::PatternMatch;
  llvm::Value* all;
  llvm::Constant* lanes;
  if (!match(numbers, m_c_Add(m_Value(all), m_Constant(lanes))) &&
      !match(numbers, m_c_DisjointOr(m_Value(all), m_Constant(lanes))))
    return nullptr;
  const auto* known = llvm::dyn_cast<llvm::ConstantDataVector>(lanes);
  if (!known || !known->getElementType()->isIntegerTy()) return nullptr;
  for (unsigned lane = 0; lane < known->getNumElements(); ++lane)
    if (known->getElementAsInteger(lane) != lane) return nullptr;
  return llvm::getSplatValue(all);
}

}  // namespace cupola::cpu::build
