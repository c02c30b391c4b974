#include "backend/cpu/build/idle_updates.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <optional>

namespace cupola::cpu::build {
namespace {

using llvm::AtomicRMWInst;
using llvm::CmpInst;
using llvm::Value;

/// What holds of the operand and what is there where the update changes that; nothing: it is another operation.
std::optional<CmpInst::Predicate> changes(AtomicRMWInst::BinOp operation) {
  switch (operation) {
    case AtomicRMWInst::Max:
      return CmpInst::ICMP_SGT;
    case AtomicRMWInst::Min:
      return CmpInst::ICMP_SLT;
    case AtomicRMWInst::UMax:
      return CmpInst::ICMP_UGT;
    case AtomicRMWInst::UMin:
      return CmpInst::ICMP_ULT;
    default:
      return std::nullopt;
  }
}

bool may_be_left_out(const AtomicRMWInst& update) {
  return update.use_empty() && !update.isVolatile() && update.getOrdering() == llvm::AtomicOrdering::Monotonic &&
         changes(update.getOperation());
}

}  // namespace

void leave_out_idle_updates(llvm::Function& function) {
  llvm::SmallVector<AtomicRMWInst*, 4> updates;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* update = llvm::dyn_cast<AtomicRMWInst>(&instruction); update && may_be_left_out(*update))
      updates.push_back(update);
  for (AtomicRMWInst* update : updates) {
    llvm::IRBuilder<> builder(update);
    llvm::LoadInst* there =
        builder.CreateAlignedLoad(update->getType(), update->getPointerOperand(), update->getAlign());
    there->setAtomic(llvm::AtomicOrdering::Monotonic, update->getSyncScopeID());
    Value* is_new = builder.CreateICmp(*changes(update->getOperation()), update->getValOperand(), there);
    update->moveBefore(
        llvm::SplitBlockAndInsertIfThen(is_new, update->getIterator(), /*Unreachable=*/false)->getIterator());
  }
}

}  // namespace cupola::cpu::build
