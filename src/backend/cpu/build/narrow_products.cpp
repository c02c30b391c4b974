#include "backend/cpu/build/narrow_products.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "backend/cpu/build/hidden_number.h"

namespace cupola::cpu::build {
namespace {

using llvm::Instruction;

constexpr unsigned kNarrow = 16;

/// In one step or in several.
bool is_cut(const Instruction& value) {
  return llvm::any_of(value.users(), [](const llvm::User* user) {
    const auto* cut = llvm::dyn_cast<llvm::TruncInst>(user);
    return cut && (cut->getType()->getScalarSizeInBits() <= kNarrow || is_cut(*cut));
  });
}

/// By how much.
const llvm::APInt* shift_of_product(Instruction& instruction) {
  using namespace llvm::PatternMatch;
  const llvm::APInt* distance = nullptr;
  const bool is_shift =
      instruction.getType()->isVectorTy() && match(&instruction, m_Shr(m_Mul(m_Value(), m_Value()), m_APInt(distance)));
  return is_shift && distance->ugt(kNarrow) && is_cut(instruction) ? distance : nullptr;
}

}  // namespace

void hide_shifts_of_products(llvm::Function& function) {
  for (Instruction& instruction : llvm::instructions(function)) {
    const llvm::APInt* distance = shift_of_product(instruction);
    if (!distance) continue;
    llvm::IRBuilder<> builder(&instruction);
    auto* type = llvm::cast<llvm::FixedVectorType>(instruction.getType());
    llvm::Value* hidden = hidden_number(builder, builder.getInt64(distance->getZExtValue()));
    hidden = builder.CreateZExtOrTrunc(hidden, type->getElementType());
    instruction.setOperand(1, builder.CreateVectorSplat(type->getNumElements(), hidden));
  }
}

}  // namespace cupola::cpu::build
