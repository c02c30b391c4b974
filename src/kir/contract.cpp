// Contraction is decided once, here, so that results depend neither on the host nor on the back-end: a product that one
// addition or subtraction alone uses, both of which say `contract`, becomes llvm.fma. Where both operands are such
// products, the first is fused. Afterwards no instruction has a fast-math flag.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>

#include "kir/passes.h"

namespace cupola::kir {
namespace {

using llvm::Value;

llvm::BinaryOperator* fusable_product(Value* value) {
  auto* product = llvm::dyn_cast<llvm::BinaryOperator>(value);
  const bool fits =
      product && product->getOpcode() == llvm::Instruction::FMul && product->hasOneUse() && product->hasAllowContract();
  return fits ? product : nullptr;
}

/// The fused form of an addition or subtraction, or null.
Value* fused(llvm::BinaryOperator& sum) {
  const bool subtracts = sum.getOpcode() == llvm::Instruction::FSub;
  if (!sum.hasAllowContract() || (!subtracts && sum.getOpcode() != llvm::Instruction::FAdd)) return nullptr;
  for (const unsigned side : {0u, 1u}) {
    llvm::BinaryOperator* product = fusable_product(sum.getOperand(side));
    if (!product) continue;
    llvm::IRBuilder<> b(&sum);
    Value* left = product->getOperand(0);
    Value* addend = sum.getOperand(1 - side);
    if (subtracts && side == 0) addend = b.CreateFNeg(addend);
    if (subtracts && side == 1) left = b.CreateFNeg(left);
    return b.CreateIntrinsic(llvm::Intrinsic::fma, {sum.getType()}, {left, product->getOperand(1), addend});
  }
  return nullptr;
}

}  // namespace

void contract(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::Instruction*, 32> sums;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<llvm::BinaryOperator>(instruction)) sums.push_back(&instruction);
    llvm::SmallVector<llvm::WeakTrackingVH, 16> products;
    for (llvm::Instruction* sum : sums)
      if (Value* value = fused(llvm::cast<llvm::BinaryOperator>(*sum))) {
        products.append({sum->getOperand(0), sum->getOperand(1)});
        sum->replaceAllUsesWith(value);
        sum->eraseFromParent();
      }
    for (const llvm::WeakTrackingVH& product : products)
      if (auto* dead = llvm::dyn_cast_or_null<llvm::Instruction>(static_cast<Value*>(product));
          dead && dead->use_empty())
        if (llvm::isa<llvm::BinaryOperator>(dead)) dead->eraseFromParent();
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (llvm::isa<llvm::FPMathOperator>(instruction))
        instruction.copyFastMathFlags(llvm::FastMathFlags());  // set... only adds
  }
}

}  // namespace cupola::kir
