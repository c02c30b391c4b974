#include "backend/metal/build/raise/grid_barriers.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include "backend/metal/build/raise/metal_intrinsics.h"
#include "image/metal_abi.h"
#include "kir/intrinsics.h"

namespace cupola::metal::build {
namespace {

constexpr uint64_t kFrameAlignment = 16;

/// One value, which is moved as such; others are copied.
bool is_one_value(const llvm::AllocaInst& variable) {
  return !variable.isArrayAllocation() && variable.getAllocatedType()->isSingleValueType();
}

/// In the frame too.
llvm::Align alignment_of(const llvm::AllocaInst& variable) {
  return std::min(variable.getAlign(), llvm::Align(kFrameAlignment));
}

llvm::Value* place_at(llvm::IRBuilder<>& b, llvm::Value* frame, uint64_t offset) {
  return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), frame, offset);
}

}  // namespace

void check_grid_barriers(llvm::Module& module) {
  llvm::SmallVector<llvm::Instruction*, 8> barriers;
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (kir::intrinsic_of(instruction) == kir::Intrinsic::GridSync) barriers.push_back(&instruction);
  for (llvm::Instruction* barrier : barriers) {
    llvm::IRBuilder<> b(barrier);
    llvm::Value* is_cooperative = b.CreateCall(kir::declare(module, kir::Intrinsic::GridIsCooperative));
    llvm::Value* is_not = b.CreateICmpEQ(is_cooperative, b.getInt32(0));
    b.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(is_not, barrier->getIterator(), /*Unreachable=*/true));
    b.SetCurrentDebugLocation(barrier->getDebugLoc());
    call(b, MetalIntrinsic::Fail, {b.getInt32(static_cast<uint32_t>(image::metal::Fault::Grid)), b.getInt64(0)});
  }
}

SavedFrame::SavedFrame(llvm::Function& kernel, llvm::ArrayRef<llvm::AllocaInst*> passing) {
  const llvm::DataLayout& layout = kernel.getDataLayout();
  uint64_t end = 0;
  for (llvm::Instruction& instruction : llvm::instructions(kernel)) {
    auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
    if (!variable || llvm::is_contained(passing, variable)) continue;
    const auto size = variable->getAllocationSize(layout);
    if (!size) continue;  // of a size that varies: the printer refuses it
    const uint64_t offset = llvm::alignTo(end, alignment_of(*variable));
    end = offset + size->getFixedValue();
    places_.push_back({variable, offset, size->getFixedValue()});
  }
  bytes_ = static_cast<uint32_t>(llvm::alignTo(std::max<uint64_t>(end, 1), kFrameAlignment));
}

void SavedFrame::keep(llvm::BasicBlock& at) const {
  llvm::IRBuilder<> b(&at);
  llvm::Value* frame = call(b, MetalIntrinsic::Saved, {b.getInt32(bytes_)});
  for (const auto& [variable, offset, bytes] : places_) {
    llvm::Value* to = place_at(b, frame, offset);
    const llvm::Align alignment = alignment_of(*variable);
    if (!is_one_value(*variable)) {
      b.CreateMemCpy(to, alignment, variable, alignment, bytes);
      continue;
    }
    llvm::Value* value = b.CreateLoad(variable->getAllocatedType(), variable);
    if (value->getType()->isIntegerTy(1)) value = b.CreateZExt(value, b.getInt8Ty());
    b.CreateAlignedStore(value, to, alignment);
  }
}

void SavedFrame::take(llvm::BasicBlock& at) const {
  llvm::IRBuilder<> b(&at);
  llvm::Value* frame = call(b, MetalIntrinsic::Saved, {b.getInt32(bytes_)});
  for (const auto& [variable, offset, bytes] : places_) {
    llvm::Value* from = place_at(b, frame, offset);
    const llvm::Align alignment = alignment_of(*variable);
    if (!is_one_value(*variable)) {
      b.CreateMemCpy(variable, alignment, from, alignment, bytes);
      continue;
    }
    llvm::Type* type = variable->getAllocatedType();
    const bool is_bit = type->isIntegerTy(1);
    llvm::Value* value = b.CreateAlignedLoad(is_bit ? b.getInt8Ty() : type, from, alignment);
    if (is_bit) value = b.CreateTrunc(value, type);
    b.CreateStore(value, variable);
  }
}

}  // namespace cupola::metal::build
