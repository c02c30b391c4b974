#include "kir/exchange_loop.h"

#include <llvm/Transforms/Utils/BasicBlockUtils.h>

namespace cupola::kir {

using llvm::Value;

ExchangeLoop::ExchangeLoop(llvm::Instruction& at, const ExchangedWord& word, OfSeen next, OfSeen gives_up) {
  llvm::BasicBlock* before = at.getParent();
  llvm::BasicBlock* done = llvm::SplitBlock(before, &at);
  llvm::Function* function = before->getParent();
  llvm::BasicBlock* loop = llvm::BasicBlock::Create(at.getContext(), "", function, done);
  before->getTerminator()->setSuccessor(0, loop);

  llvm::IRBuilder<> b(before->getTerminator());
  b.SetCurrentDebugLocation(at.getDebugLoc());
  llvm::LoadInst* first = b.CreateAlignedLoad(word.type, word.pointer, word.alignment, word.is_volatile);
  first->setAtomic(llvm::AtomicOrdering::Monotonic, word.scope);

  b.SetInsertPoint(loop);
  llvm::PHINode* last = b.CreatePHI(word.type, 2);
  last->addIncoming(first, before);
  if (gives_up) {
    llvm::BasicBlock* go_on = llvm::BasicBlock::Create(at.getContext(), "", function, done);
    gave_up = gives_up(b, last);
    b.CreateCondBr(gave_up, done, go_on);
    b.SetInsertPoint(go_on);
  }
  Value* made = next(b, last);
  llvm::AtomicCmpXchgInst* exchange = b.CreateAtomicCmpXchg(word.pointer, last, made, word.alignment, word.ordering,
                                                            llvm::AtomicOrdering::Monotonic, word.scope);
  exchange->setVolatile(word.is_volatile);
  last->addIncoming(b.CreateExtractValue(exchange, 0), b.GetInsertBlock());
  b.CreateCondBr(b.CreateExtractValue(exchange, 1), done, loop);
  seen = last;
}

void expand_by_exchange(llvm::AtomicRMWInst& update, OfSeen next) {
  llvm::Type* type = update.getType();
  auto* word = llvm::IntegerType::get(update.getContext(), static_cast<unsigned>(type->getPrimitiveSizeInBits()));
  const ExchangeLoop loop(
      update,
      {.pointer = update.getPointerOperand(),
       .type = word,
       .alignment = update.getAlign(),
       .ordering = update.getOrdering(),
       .scope = update.getSyncScopeID(),
       .is_volatile = update.isVolatile()},
      [&](llvm::IRBuilderBase& b, Value* seen) { return b.CreateBitCast(next(b, b.CreateBitCast(seen, type)), word); });
  llvm::IRBuilder<> b(&update);
  update.replaceAllUsesWith(b.CreateBitCast(loop.seen, type));
  update.eraseFromParent();
}

}  // namespace cupola::kir
