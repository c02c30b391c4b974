#include "backend/metal/build/raise/barrier_kinds.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>

#include "kir/intrinsics.h"

namespace cupola::metal::build {

bool is_barrier(const llvm::Instruction& instruction) {
  const auto known = kir::intrinsic_of(instruction);
  if (known != kir::Intrinsic::Barrier && known != kir::Intrinsic::BarrierReduce) return false;
  return llvm::all_of(llvm::ArrayRef<int>{0, 1}, [&](int i) {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(static_cast<unsigned>(i)));
    return number && number->isZero();
  });
}

bool is_numbered_barrier(const llvm::Instruction& instruction) {
  const auto known = kir::intrinsic_of(instruction);
  if (known == kir::Intrinsic::BarrierArrive) return true;
  return (known == kir::Intrinsic::Barrier || known == kir::Intrinsic::BarrierReduce) && !is_barrier(instruction);
}

bool is_grid_barrier(const llvm::Instruction& instruction) {
  return kir::intrinsic_of(instruction) == kir::Intrinsic::GridSync;
}

bool has_any(llvm::Function& function, bool (*which)(const llvm::Instruction&)) {
  return llvm::any_of(llvm::instructions(function), which);
}

}  // namespace cupola::metal::build
