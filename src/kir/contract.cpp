// Contraction is decided once, here, so that results depend neither on the host nor on the back-end: a product and the
// addition or subtraction that uses it, if both say `contract`, become llvm.fma. A product of several uses is fused if
// each of them is such a sum, so that no product is computed twice. Where both operands of a sum are products, the
// first is fused. Afterwards no instruction has a fast-math flag but that of may_approximate. Runs before equal
// products are merged: one that may be fused and one that may not (__fmul_rn) would become one that may not.
// llvm.fmuladd, by which a compiler says the same of one statement, is fused too. llvm.arithmetic_fence has done its
// work then.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

using llvm::Value;

bool contracting_sum(const llvm::User* user) {
  auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(user);
  if (!sum || (sum->getOpcode() != llvm::Instruction::FAdd && sum->getOpcode() != llvm::Instruction::FSub))
    return false;
  return sum->hasAllowContract();
}

llvm::BinaryOperator* fusable_product(Value* value) {
  auto* product = llvm::dyn_cast<llvm::BinaryOperator>(value);
  const bool fits = product && product->getOpcode() == llvm::Instruction::FMul && product->hasAllowContract() &&
                    llvm::all_of(product->users(), contracting_sum);
  return fits ? product : nullptr;
}

/// The fused form of an addition or subtraction, or null.
Value* fused(llvm::BinaryOperator& sum) {
  if (!contracting_sum(&sum)) return nullptr;
  const bool subtracts = sum.getOpcode() == llvm::Instruction::FSub;
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

void fuse_or_unfence(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> b(&call);
  if (call.getIntrinsicID() == llvm::Intrinsic::fmuladd)
    call.replaceAllUsesWith(b.CreateIntrinsic(llvm::Intrinsic::fma, {call.getType()},
                                              {call.getArgOperand(0), call.getArgOperand(1), call.getArgOperand(2)}));
  else if (call.getIntrinsicID() == llvm::Intrinsic::arithmetic_fence)
    call.replaceAllUsesWith(call.getArgOperand(0));
  else
    return;
  call.eraseFromParent();
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
    llvm::SmallVector<llvm::IntrinsicInst*, 16> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) calls.push_back(call);
    for (llvm::IntrinsicInst* call : calls) fuse_or_unfence(*call);
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!llvm::isa<llvm::FPMathOperator>(instruction)) continue;
      const bool approximates = may_approximate(instruction);
      instruction.copyFastMathFlags(llvm::FastMathFlags());  // setFastMathFlags would only add
      instruction.setHasApproxFunc(approximates);
    }
  }
}

}  // namespace cupola::kir
