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

/// The number's bits, one for each lane.
llvm::Value* mask_of(llvm::IRBuilder<>& builder, llvm::Value* number) {
  const unsigned lanes = number->getType()->getIntegerBitWidth();
  // Each lane has the byte in which its bit is; of 8 lanes, which are those of wider numbers, a copy of the number.
  const unsigned bits = lanes == 8 ? 32 : 8;
  llvm::Value* copies = nullptr;
  if (lanes == 8) {
    copies = builder.CreateVectorSplat(lanes, builder.CreateZExt(number, builder.getIntNTy(bits)));
  } else {
    constexpr unsigned kRegister = 16;  // bytes among which a shuffle is cheap
    const unsigned bytes = lanes / 8;
    copies = builder.CreateBitCast(builder.CreateVectorSplat(lanes / bytes, number),
                                   llvm::FixedVectorType::get(builder.getInt8Ty(), lanes));
    llvm::SmallVector<int, 64> places;
    for (unsigned lane = 0; lane < lanes; ++lane)
      places.push_back(static_cast<int>(lane / kRegister * kRegister + lane / 8 % bytes));
    copies = builder.CreateShuffleVector(copies, places);
  }
  llvm::SmallVector<llvm::Constant*, 64> own;
  for (unsigned lane = 0; lane < lanes; ++lane) own.push_back(builder.getIntN(bits, uint64_t{1} << lane % 8));
  llvm::Constant* bit = llvm::ConstantVector::get(own);
  return builder.CreateICmpEQ(builder.CreateAnd(copies, bit), bit);
}

/// Of a mask of 8, 16, 32 or 64 lanes made of a number; null: it is none.
llvm::Value* number_under(llvm::Instruction& instruction) {
  auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
  const auto* type = cast ? number_of(cast->getType()) : nullptr;
  const bool is_one = type && cast->getOperand(0)->getType() == type && type->getBitWidth() <= 64 &&
                      llvm::isPowerOf2_32(type->getBitWidth());
  return is_one ? cast->getOperand(0) : nullptr;
}

/// Where the mask is only asked as a number, that is the number; else it is made.
void make_mask(llvm::Instruction& mask, llvm::Value* number) {
  for (llvm::User* user : llvm::make_early_inc_range(mask.users()))
    if (auto* back = llvm::dyn_cast<llvm::BitCastInst>(user); back && back->getType() == number->getType()) {
      back->replaceAllUsesWith(number);
      back->eraseFromParent();
    }
  if (!mask.use_empty()) {
    llvm::IRBuilder<> builder(&mask);
    mask.replaceAllUsesWith(mask_of(builder, number));
  }
  mask.eraseFromParent();
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
  llvm::SmallVector<llvm::Instruction*, 16> masks;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (number_under(instruction)) masks.push_back(&instruction);
  for (llvm::Instruction* mask : masks) make_mask(*mask, number_under(*mask));
}

}  // namespace cupola::cpu::build
