#include "kir/float_atomics.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include "kir/address_space.h"
#include "kir/exchange_loop.h"
#include "kir/intrinsics.h"

namespace cupola::kir {
namespace {

using llvm::AtomicRMWInst;
using llvm::Value;

/// kGenericSpace when only the running kernel can tell.
unsigned space_of(const AtomicRMWInst& update) {
  if (update.getPointerAddressSpace() != kGenericSpace) return update.getPointerAddressSpace();
  return llvm::getUnderlyingObject(update.getPointerOperand())->getType()->getPointerAddressSpace();
}

bool is_narrow(const AtomicRMWInst& update) {
  const llvm::Type* element = update.getType()->getScalarType();
  return element->isHalfTy() || element->isBFloatTy();
}

bool is_float_sum(const AtomicRMWInst& update) {
  const bool is_sum = update.getOperation() == AtomicRMWInst::FAdd || update.getOperation() == AtomicRMWInst::FSub;
  return is_sum && update.getType()->isFloatTy();
}

/// f32 denormals to zeros of their sign, unless memory is shared.
class Flush {
 public:
  /// In global memory.
  explicit Flush(llvm::IRBuilderBase& b) : kept_(b.getInt32(0x80000000)) {}
  Flush(llvm::IRBuilderBase& b, AtomicRMWInst& update) : Flush(b) {
    if (space_of(update) != kGenericSpace) return;
    llvm::Function* is_shared = declare(*b.GetInsertBlock()->getModule(), Intrinsic::IsShared);
    kept_ = b.CreateSelect(b.CreateCall(is_shared, {update.getPointerOperand()}), b.getInt32(0xffffffff), kept_);
  }

  Value* operator()(llvm::IRBuilderBase& b, Value* value) const {
    Value* bits = b.CreateBitCast(value, b.getInt32Ty());
    Value* denormal = b.CreateICmpEQ(b.CreateAnd(bits, b.getInt32(0x7f800000)), b.getInt32(0));
    return b.CreateBitCast(b.CreateSelect(denormal, b.CreateAnd(bits, kept_), bits), b.getFloatTy());
  }

 private:
  Value* kept_;  ///< the bits that stay of a denormal
};

Value* narrow_result(llvm::IRBuilderBase& b, AtomicRMWInst::BinOp operation, Value* seen, Value* value) {
  if (operation == AtomicRMWInst::FMin) return b.CreateBinaryIntrinsic(llvm::Intrinsic::minimumnum, seen, value);
  if (operation == AtomicRMWInst::FMax) return b.CreateBinaryIntrinsic(llvm::Intrinsic::maximumnum, seen, value);
  return llvm::buildAtomicRMWValue(operation, b, seen, value);
}

void expand_narrow(AtomicRMWInst& update) {
  expand_by_exchange(update, [&](llvm::IRBuilderBase& b, Value* seen) {
    return narrow_result(b, update.getOperation(), seen, update.getValOperand());
  });
}

void expand_sum(AtomicRMWInst& update) {
  llvm::IRBuilder<> before(&update);
  const Flush flush(before, update);
  Value* value = flush(before, update.getValOperand());
  expand_by_exchange(update, [&](llvm::IRBuilderBase& b, Value* seen) {
    return flush(b, llvm::buildAtomicRMWValue(update.getOperation(), b, flush(b, seen), value));
  });
}

llvm::SmallVector<AtomicRMWInst*, 8> updates(llvm::Module& module,
                                             llvm::function_ref<bool(const AtomicRMWInst&)> wanted) {
  llvm::SmallVector<AtomicRMWInst*, 8> found;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* update = llvm::dyn_cast<AtomicRMWInst>(&instruction); update && wanted(*update))
        found.push_back(update);
  return found;
}

}  // namespace

void expand_narrow_float_atomics(llvm::Module& module) {
  for (AtomicRMWInst* update : updates(module, [](const AtomicRMWInst& update) {
         return is_narrow(update) && update.getOperation() != AtomicRMWInst::Xchg;  // that moves bits
       }))
    expand_narrow(*update);
}

Value* sum_in_global_memory(llvm::IRBuilderBase& builder, Value* before, Value* value) {
  const Flush flush(builder);
  return flush(builder, builder.CreateFAdd(flush(builder, before), flush(builder, value)));
}

void expand_float_sums(llvm::Module& module) {
  for (AtomicRMWInst* update : updates(module, [&](const AtomicRMWInst& update) {
         return is_float_sum(update) && space_of(update) != kSharedSpace;
       }))
    expand_sum(*update);
}

}  // namespace cupola::kir
