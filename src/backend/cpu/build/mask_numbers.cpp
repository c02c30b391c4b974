#include "backend/cpu/build/mask_numbers.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/mask_registers.h"

namespace cupola::cpu::build {
namespace {

/// Of as many bits as a mask's bytes have; null: the type is no mask's, or has bits that are no lane's.
llvm::IntegerType* number_of(llvm::Type* type) {
  const auto* mask = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!mask || !mask->getElementType()->isIntegerTy(1) || mask->getNumElements() % 8 != 0) return nullptr;
  return llvm::IntegerType::get(type->getContext(), mask->getNumElements());
}

}  // namespace

void move_masks_as_numbers(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (has_mask_registers(machine)) return;
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    llvm::IRBuilder<> builder(&instruction);
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      llvm::IntegerType* number = number_of(load->getType());
      if (!number || !load->isSimple()) continue;
      llvm::LoadInst* bits = builder.CreateAlignedLoad(number, load->getPointerOperand(), load->getAlign());
      bits->setAAMetadata(load->getAAMetadata());
      load->replaceAllUsesWith(builder.CreateBitCast(bits, load->getType()));
      load->eraseFromParent();
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      llvm::IntegerType* number = number_of(store->getValueOperand()->getType());
      if (!number || !store->isSimple()) continue;
      store->setOperand(0, builder.CreateBitCast(store->getValueOperand(), number));
    }
  }
}

}  // namespace cupola::cpu::build
