#include "backend/cpu/build/narrow_atomics.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

namespace cupola::cpu::build {
namespace {

bool computes_narrow_floats(const llvm::Instruction& instruction) {
  const auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  if (!update || update->getOperation() == llvm::AtomicRMWInst::Xchg) return false;  // that moves bits
  const llvm::Type* element = update->getType()->getScalarType();
  return element->isHalfTy() || element->isBFloatTy();
}

/// before: first = load; loop: seen = phi(first, found); found = cmpxchg(seen, f(seen)); done when it succeeded.
void expand(llvm::AtomicRMWInst& update) {
  llvm::BasicBlock* before = update.getParent();
  llvm::BasicBlock* done = llvm::SplitBlock(before, &update);
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(update.getContext(), "", before->getParent(), done);
  before->getTerminator()->setSuccessor(0, loop);

  llvm::IRBuilder<> b(before->getTerminator());
  b.SetCurrentDebugLocation(update.getDebugLoc());
  llvm::Type* word = b.getIntNTy(update.getType()->getPrimitiveSizeInBits());
  llvm::LoadInst* first = b.CreateAlignedLoad(word, update.getPointerOperand(), update.getAlign(), update.isVolatile());
  first->setAtomic(llvm::AtomicOrdering::Monotonic, update.getSyncScopeID());

  b.SetInsertPoint(loop);
  llvm::PHINode* seen = b.CreatePHI(word, 2);
  llvm::Value* next = llvm::buildAtomicRMWValue(update.getOperation(), b, b.CreateBitCast(seen, update.getType()),
                                                update.getValOperand());
  llvm::AtomicCmpXchgInst* exchange =
      b.CreateAtomicCmpXchg(update.getPointerOperand(), seen, b.CreateBitCast(next, word), update.getAlign(),
                            update.getOrdering(), llvm::AtomicOrdering::Monotonic, update.getSyncScopeID());
  exchange->setVolatile(update.isVolatile());
  seen->addIncoming(first, before);
  seen->addIncoming(b.CreateExtractValue(exchange, 0), loop);
  b.CreateCondBr(b.CreateExtractValue(exchange, 1), done, loop);

  b.SetInsertPoint(&update);
  update.replaceAllUsesWith(b.CreateBitCast(seen, update.getType()));
  update.eraseFromParent();
}

}  // namespace

void expand_narrow_atomics(llvm::Module& module) {
  llvm::SmallVector<llvm::AtomicRMWInst*, 8> work;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (computes_narrow_floats(instruction)) work.push_back(llvm::cast<llvm::AtomicRMWInst>(&instruction));
  for (llvm::AtomicRMWInst* update : work) expand(*update);
}

}  // namespace cupola::cpu::build
