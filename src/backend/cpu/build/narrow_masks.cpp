#include "backend/cpu/build/narrow_masks.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Target/TargetMachine.h>

#include <numeric>

#include "backend/cpu/build/hidden_number.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

constexpr unsigned kBits = 128;  ///< of the narrowest rows that the processor masks

/// A masked load or store of fewer bits, by a mask that is not known.
class NarrowAccess {
 public:
  explicit NarrowAccess(llvm::IntrinsicInst& call)
      : call_(call), builder_(&call), is_load_(call.getIntrinsicID() == llvm::Intrinsic::masked_load) {}

  static bool is_one(const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
    if (!call) return false;
    const bool is_load = call->getIntrinsicID() == llvm::Intrinsic::masked_load;
    if (!is_load && call->getIntrinsicID() != llvm::Intrinsic::masked_store) return false;
    const llvm::Type* type = is_load ? call->getType() : call->getArgOperand(0)->getType();
    const Value* mask = call->getArgOperand(is_load ? 1 : 2);
    const auto* row = llvm::dyn_cast<llvm::FixedVectorType>(type);
    if (!row || row->getElementType()->isPointerTy() || llvm::isa<llvm::Constant>(mask)) return false;
    return row->getPrimitiveSizeInBits() < kBits && kBits % row->getScalarSizeInBits() == 0;
  }

  void widen() {
    auto* type = llvm::cast<llvm::FixedVectorType>(is_load_ ? call_.getType() : call_.getArgOperand(0)->getType());
    few_ = type->getNumElements();
    many_ = kBits / type->getScalarSizeInBits();
    const llvm::Align alignment = call_.getParamAlign(is_load_ ? 0 : 1).valueOrOne();
    if (!is_load_) {
      builder_.CreateMaskedStore(spread(call_.getArgOperand(0)), call_.getArgOperand(1), alignment,
                                 whole_mask(call_.getArgOperand(2)));
    } else {
      auto* wide = llvm::FixedVectorType::get(type->getElementType(), many_);
      Value* read = builder_.CreateMaskedLoad(wide, call_.getArgOperand(0), alignment,
                                              whole_mask(call_.getArgOperand(1)), spread(call_.getArgOperand(2)));
      call_.replaceAllUsesWith(builder_.CreateShuffleVector(read, first_lanes(few_)));
    }
    call_.eraseFromParent();
  }

 private:
  llvm::SmallVector<int, 16> first_lanes(unsigned count) const {
    llvm::SmallVector<int, 16> lanes(count, llvm::PoisonMaskElem);
    std::iota(lanes.begin(), lanes.begin() + few_, 0);
    return lanes;
  }
  Value* spread(Value* row) { return builder_.CreateShuffleVector(row, first_lanes(many_)); }

  /// By way of a number that LLVM knows nothing of.
  Value* whole_mask(Value* mask) {
    Value* known = builder_.CreateZExt(builder_.CreateBitCast(mask, builder_.getIntNTy(few_)), builder_.getInt32Ty());
    Value* all = builder_.CreateTrunc(hidden_number(builder_, known), builder_.getIntNTy(many_));
    return builder_.CreateBitCast(all, llvm::FixedVectorType::get(builder_.getInt1Ty(), many_));
  }

  llvm::IntrinsicInst& call_;
  llvm::IRBuilder<> builder_;
  const bool is_load_;
  unsigned few_ = 0, many_ = 0;  ///< lanes
};

}  // namespace

void widen_narrow_masks(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!machine.getMCSubtargetInfo()->checkFeatures("+avx512bw")) return;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (NarrowAccess::is_one(instruction)) NarrowAccess(llvm::cast<llvm::IntrinsicInst>(instruction)).widen();
}

}  // namespace cupola::cpu::build
