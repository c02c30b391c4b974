#include "backend/cpu/build/zero_rows.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

namespace cupola::cpu::build {
namespace {

/// A row of zeros made of a number that LLVM knows nothing of.
llvm::Value* hidden_zeros(llvm::IRBuilder<>& builder, llvm::VectorType* type) {
  llvm::Type* number = builder.getInt64Ty();
  auto* same = llvm::InlineAsm::get(llvm::FunctionType::get(number, {number}, false), "", "=r,0", false);
  llvm::Value* zero = builder.CreateCall(same, {builder.getInt64(0)});
  llvm::Type* bits = builder.getIntNTy(type->getScalarSizeInBits());
  llvm::Value* element = builder.CreateBitCast(builder.CreateTrunc(zero, bits), type->getElementType());
  return builder.CreateVectorSplat(type->getElementCount(), element);
}

}  // namespace

void hide_zeros_between_floats(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getMCSubtargetInfo()->checkFeatures("+avx512f")) return;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* order = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    if (!order || !order->getType()->isFPOrFPVectorTy()) continue;
    for (llvm::Use& operand : order->operands()) {
      if (!llvm::PatternMatch::match(operand.get(), llvm::PatternMatch::m_PosZeroFP())) continue;
      llvm::IRBuilder<> builder(order);
      operand.set(hidden_zeros(builder, llvm::cast<llvm::VectorType>(operand->getType())));
    }
  }
}

}  // namespace cupola::cpu::build
