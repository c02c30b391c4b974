#include "backend/cpu/build/bit_tests.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Transforms/Utils/Local.h>

#include "backend/cpu/build/mask_registers.h"

namespace cupola::cpu::build {
namespace {

using llvm::APInt;
using llvm::Instruction;
using llvm::Value;
using namespace llvm::PatternMatch;

/// The lowest bit of each lane, from where it comes.
LaneBit lowest_bit(Value* row) {
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

/// Whether a number is below `bound` says of each lane whether the bit is clear, if it is a power of two and numbers
/// have no higher bit; of frozen ones, those that are known: what the others are is as good as any.
std::optional<LaneBit> highest_bit(Value* row, const APInt& bound) {
  const auto* first = llvm::dyn_cast<Instruction>(row);
  if (!bound.isPowerOf2() || !first || !is_row_of_numbers(row->getType())) return std::nullopt;
  const Value* number = llvm::isa<llvm::FreezeInst>(first) ? first->getOperand(0) : row;
  const llvm::KnownBits known = llvm::computeKnownBits(number, first->getDataLayout());
  if (known.countMaxActiveBits() != bound.logBase2() + 1) return std::nullopt;
  return LaneBit{row, bound.logBase2()};
}

Value* test(llvm::IRBuilder<>& builder, const LaneBit& bit) {
  llvm::Type* type = bit.row->getType();
  const APInt alone = APInt::getOneBitSet(type->getScalarSizeInBits(), bit.number);
  return builder.CreateICmpNE(builder.CreateAnd(bit.row, llvm::ConstantInt::get(type, alone)),
                              llvm::Constant::getNullValue(type));
}

/// What says the same of the bit; null: the instruction is about something else, or says it that way.
Value* in_place(Instruction& instruction) {
  llvm::IRBuilder<> builder(&instruction);
  if (llvm::isa<llvm::TruncInst>(instruction))
    if (const auto bit = bit_set_in(&instruction)) return test(builder, *bit);
  if (const auto bit = bit_missing_from(&instruction))
    return builder.CreateNot(builder.CreateSExt(test(builder, *bit), instruction.getType()));
  return nullptr;
}

}  // namespace

std::optional<LaneBit> bit_missing_from(Value* numbers) {
  if (!is_row_of_numbers(numbers->getType())) return std::nullopt;
  Value* row = nullptr;
  const APInt *bit = nullptr, *number = nullptr;
  if (match(numbers, m_Add(m_And(m_Value(row), m_One()), m_AllOnes()))) return lowest_bit(row);
  if (match(numbers, m_Add(m_LShr(m_And(m_Value(row), m_Power2(bit)), m_APInt(number)), m_AllOnes())) &&
      *number == bit->logBase2())
    return LaneBit{row, bit->logBase2()};
  return std::nullopt;
}

std::optional<LaneBit> bit_clear_in(Value* mask) {
  Value* row = nullptr;
  const APInt* bound = nullptr;
  if (!match(mask, m_SpecificICmp(llvm::ICmpInst::ICMP_ULT, m_Value(row), m_Power2(bound)))) return std::nullopt;
  return highest_bit(row, *bound);
}

std::optional<LaneBit> bit_set_in(Value* mask) {
  Value* row = nullptr;
  const APInt* bit = nullptr;
  if (!mask->getType()->isIntOrIntVectorTy(1)) return std::nullopt;
  if (match(mask, m_Trunc(m_Value(row))) && is_row_of_numbers(row->getType())) return lowest_bit(row);
  if (match(mask, m_SpecificICmp(llvm::ICmpInst::ICMP_NE, m_And(m_Value(row), m_Power2(bit)), m_Zero())) &&
      is_row_of_numbers(row->getType()))
    return LaneBit{row, bit->logBase2()};
  const APInt* below = nullptr;
  if (match(mask, m_SpecificICmp(llvm::ICmpInst::ICMP_UGT, m_Value(row), m_APInt(below))))
    return highest_bit(row, *below + 1);
  return std::nullopt;
}

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
