#include "backend/cpu/build/zero_rows.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/hidden_number.h"
#include "backend/cpu/build/mask_registers.h"

namespace cupola::cpu::build {
namespace {

/// The same row, joined with a zero that LLVM knows nothing of.
llvm::Value* hidden(llvm::IRBuilder<>& builder, llvm::Constant* row) {
  auto* type = llvm::cast<llvm::VectorType>(row->getType());
  llvm::Value* zero = hidden_number(builder, builder.getInt64(0));
  llvm::VectorType* integers = llvm::VectorType::getInteger(type);
  llvm::Value* zeros =
      builder.CreateVectorSplat(type->getElementCount(), builder.CreateTrunc(zero, integers->getElementType()));
  return builder.CreateBitCast(builder.CreateOr(zeros, llvm::ConstantExpr::getBitCast(row, integers)), type);
}

bool has_zeros(const llvm::Constant& row) {
  const unsigned count = llvm::cast<llvm::FixedVectorType>(row.getType())->getNumElements();
  for (unsigned i = 0; i < count; ++i) {
    const llvm::Constant* element = row.getAggregateElement(i);
    if (element && element->isNullValue()) return true;
  }
  return false;
}

}  // namespace

void hide_zeros_in_rows(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!has_mask_registers(machine)) return;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* order = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction);
    if (!order || order->getType()->isPtrOrPtrVectorTy()) continue;
    for (llvm::Use& operand : order->operands()) {
      auto* row = llvm::dyn_cast<llvm::Constant>(operand);
      if (!row || !has_zeros(*row)) continue;
      llvm::IRBuilder<> builder(order);
      operand.set(hidden(builder, row));
    }
  }
}

}  // namespace cupola::cpu::build
