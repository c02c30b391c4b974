#include "backend/cpu/build/bit_tests.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backend/cpu/build/mask_registers.h"

namespace cupola::cpu::build {
namespace {

using llvm::APInt;
using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

/// A bit of each lane of a row.
struct Bit {
  Value* row;
  unsigned number;
};

/// The lowest bit of each lane, from where it comes.
Bit lowest_bit(Value* row) {
  Value* from = nullptr;
  const APInt* number = nullptr;
  if (match(row, m_LShr(m_Value(from), m_APInt(number))) && number->ult(row->getType()->getScalarSizeInBits()))
    return {from, static_cast<unsigned>(number->getZExtValue())};
  return {row, 0};
}

bool is_row_of_numbers(const llvm::Type* type) {
  const auto* row = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return row && row->getNumElements() >= 8 && row->getElementType()->isIntegerTy() && row->getScalarSizeInBits() > 1;
}

Value* test(llvm::IRBuilder<>& builder, const Bit& bit) {
  llvm::Type* type = bit.row->getType();
  const APInt alone = APInt::getOneBitSet(type->getScalarSizeInBits(), bit.number);
  return builder.CreateICmpNE(builder.CreateAnd(bit.row, llvm::ConstantInt::get(type, alone)),
                              llvm::Constant::getNullValue(type));
}

/// What says the same of the bit; null: the instruction is about something else.
Value* in_place(Instruction& instruction) {
  llvm::IRBuilder<> builder(&instruction);
  Value* row = nullptr;
  const APInt *bit = nullptr, *number = nullptr;
  if (match(&instruction, m_Trunc(m_Value(row))) && instruction.getType()->isIntOrIntVectorTy(1) &&
      is_row_of_numbers(row->getType()))
    return test(builder, lowest_bit(row));
  // 0 where the bit is set, all ones where it is not
  const auto all_ones_without = [&](const Bit& which) {
    return builder.CreateNot(builder.CreateSExt(test(builder, which), instruction.getType()));
  };
  if (!is_row_of_numbers(instruction.getType())) return nullptr;
  if (match(&instruction, m_Add(m_And(m_Value(row), m_One()), m_AllOnes()))) return all_ones_without(lowest_bit(row));
  if (match(&instruction, m_Add(m_LShr(m_And(m_Value(row), m_Power2(bit)), m_APInt(number)), m_AllOnes())) &&
      *number == bit->logBase2())
    return all_ones_without({row, bit->logBase2()});
  return nullptr;
}

}  // namespace

void test_bits_in_place(llvm::Function& function, const llvm::TargetMachine& machine) {
  if (!has_mask_registers(machine)) return;
  llvm::SmallVector<llvm::WeakTrackingVH, 16> old;
  for (Instruction& instruction : llvm::instructions(function))
    if (Value* same = in_place(instruction)) {
      instruction.replaceAllUsesWith(same);
      old.push_back(&instruction);
    }
  llvm::RecursivelyDeleteTriviallyDeadInstructions(old);
}

}  // namespace cupola::cpu::build
