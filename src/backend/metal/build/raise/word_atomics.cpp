#include "backend/metal/build/raise/word_atomics.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "kir/exchange_loop.h"

namespace cupola::metal::build {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;

bool metal_has(const AtomicRMWInst& update) {
  switch (update.getOperation()) {
    case AtomicRMWInst::Add:
    case AtomicRMWInst::Sub:
    case AtomicRMWInst::And:
    case AtomicRMWInst::Or:
    case AtomicRMWInst::Xor:
    case AtomicRMWInst::Xchg:
    case AtomicRMWInst::Min:
    case AtomicRMWInst::Max:
    case AtomicRMWInst::UMin:
    case AtomicRMWInst::UMax:
      return update.getType()->isIntegerTy(32);
    default:
      return false;
  }
}

/// Where a value of up to 32 bits lies in the word around it.
class Part {
 public:
  Part(llvm::IRBuilder<>& b, Value* pointer, llvm::Type* type)
      : type_(type), bits_(static_cast<unsigned>(type->getPrimitiveSizeInBits())), word_(pointer) {
    if (bits_ == 32) return;
    const llvm::DataLayout& layout = b.GetInsertBlock()->getDataLayout();
    llvm::Type* number = layout.getIndexType(pointer->getType());
    word_ = b.CreateIntrinsic(llvm::Intrinsic::ptrmask, {pointer->getType(), number},
                              {pointer, llvm::ConstantInt::getSigned(number, -4)});
    Value* bytes = b.CreateAnd(b.CreatePtrToInt(pointer, b.getInt64Ty()), b.getInt64(3));
    shift_ = b.CreateShl(b.CreateTrunc(bytes, b.getInt32Ty()), 3);
    mask_ = b.CreateShl(b.getInt32((1u << bits_) - 1), shift_);
  }

  Value* word() const { return word_; }

  Value* of(llvm::IRBuilderBase& b, Value* word) const {
    Value* bits = bits_ == 32 ? word : b.CreateTrunc(b.CreateLShr(word, shift_), b.getIntNTy(bits_));
    return b.CreateBitCast(bits, type_);
  }

  Value* put(llvm::IRBuilderBase& b, Value* word, Value* value) const {
    Value* bits = b.CreateBitCast(value, b.getIntNTy(bits_));
    if (bits_ == 32) return bits;
    return b.CreateOr(b.CreateAnd(word, b.CreateNot(mask_)), b.CreateShl(b.CreateZExt(bits, b.getInt32Ty()), shift_));
  }

 private:
  llvm::Type* type_;
  unsigned bits_;
  Value* word_;
  Value *shift_ = nullptr, *mask_ = nullptr;
};

kir::ExchangedWord word_of(llvm::IRBuilder<>& b, const Part& part, llvm::AtomicOrdering ordering,
                           llvm::SyncScope::ID scope) {
  return {.pointer = part.word(),
          .type = b.getInt32Ty(),
          .alignment = llvm::Align(4),
          .ordering = ordering,
          .scope = scope,
          .is_volatile = false};
}

void write_out(AtomicRMWInst& update) {
  llvm::IRBuilder<> b(&update);
  const Part part(b, update.getPointerOperand(), update.getType());
  const AtomicRMWInst::BinOp operation = update.getOperation();
  Value* value = update.getValOperand();
  const kir::ExchangeLoop loop(update, word_of(b, part, update.getOrdering(), update.getSyncScopeID()),
                               [&](llvm::IRBuilderBase& at, Value* seen) {
                                 return part.put(at, seen,
                                                 llvm::buildAtomicRMWValue(operation, at, part.of(at, seen), value));
                               });
  b.SetInsertPoint(&update);
  update.replaceAllUsesWith(part.of(b, loop.seen));
  update.eraseFromParent();
}

void write_out(llvm::AtomicCmpXchgInst& exchange) {
  llvm::IRBuilder<> b(&exchange);
  const Part part(b, exchange.getPointerOperand(), exchange.getCompareOperand()->getType());
  Value* expected = exchange.getCompareOperand();
  const kir::ExchangeLoop loop(
      exchange, word_of(b, part, exchange.getSuccessOrdering(), exchange.getSyncScopeID()),
      [&](llvm::IRBuilderBase& at, Value* seen) { return part.put(at, seen, exchange.getNewValOperand()); },
      [&](llvm::IRBuilderBase& at, Value* seen) { return at.CreateICmpNE(part.of(at, seen), expected); });
  b.SetInsertPoint(&exchange);
  Value* result = b.CreateInsertValue(llvm::PoisonValue::get(exchange.getType()), part.of(b, loop.seen), 0);
  exchange.replaceAllUsesWith(b.CreateInsertValue(result, b.CreateNot(loop.gave_up), 1));
  exchange.eraseFromParent();
}

}  // namespace

void write_out_atomics(llvm::Module& module) {
  llvm::SmallVector<AtomicRMWInst*, 8> updates;
  llvm::SmallVector<llvm::AtomicCmpXchgInst*, 8> exchanges;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* update = llvm::dyn_cast<AtomicRMWInst>(&instruction))
        if (!metal_has(*update) && update->getType()->getPrimitiveSizeInBits() <= 32) updates.push_back(update);
      if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction))
        if (exchange->getCompareOperand()->getType()->getPrimitiveSizeInBits() < 32 &&
            exchange->getCompareOperand()->getType()->isIntegerTy())
          exchanges.push_back(exchange);
    }
  for (AtomicRMWInst* update : updates) write_out(*update);
  for (llvm::AtomicCmpXchgInst* exchange : exchanges) write_out(*exchange);
}

}  // namespace cupola::metal::build
