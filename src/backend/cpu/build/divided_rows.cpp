#include "backend/cpu/build/divided_rows.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/Support/MathExtras.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Triple.h>

#include <map>
#include <utility>

namespace cupola::cpu::build {
namespace {

using llvm::BinaryOperator;
using llvm::Value;

// For a >= 0 and b > 0 below 2^32, floor(a / b) is the integer next to (a - (b - 1) / 2) / b: that is half a step of
// 1 / b, 1 / 2b or more, from where the next one begins, and what doubles make of it is less than 2^-19 / b from it.
// The sum with 2^52 + 2^51 has no bits for fractions: it rounds to that integer, and has it as its lowest bits.

constexpr double kRounds = 6755399441055744.0;  // 2^52 + 2^51
constexpr double kHalfRange = 2147483648.0;     // 2^31: numbers are converted as signed ones, that much lower

/// Of more the registers would not hold what is computed of them.
constexpr unsigned kDividedTogether = 8;

/// What numbers are divided with.
struct Divisor {
  Value* inverse;  ///< 1 / b
  Value* offset;   ///< 2^31 - (b - 1) / 2, for a - 2^31
};

class DividedRows {
 public:
  DividedRows(llvm::Function& function, const llvm::TargetMachine& machine)
      : function_(function),
        fuses_(!machine.getTargetTriple().isX86() || machine.getMCSubtargetInfo()->checkFeatures("+fma")) {}

  void divide() {
    llvm::SmallVector<BinaryOperator*, 8> divisions;
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      if (auto* division = llvm::dyn_cast<BinaryOperator>(&instruction); division && is_for_doubles(*division))
        divisions.push_back(division);
    for (BinaryOperator* division : divisions) {
      division->replaceAllUsesWith(result_of(*division));
      division->eraseFromParent();
    }
  }

 private:
  /// By constants LLVM multiplies integers.
  static bool is_for_doubles(const BinaryOperator& division) {
    const auto* row = llvm::dyn_cast<llvm::FixedVectorType>(division.getType());
    return row && division.isIntDivRem() && row->getElementType()->isIntegerTy(32) && row->getNumElements() >= 4 &&
           llvm::isPowerOf2_32(row->getNumElements()) && !llvm::isa<llvm::Constant>(division.getOperand(1));
  }

  Value* result_of(BinaryOperator& division) {
    llvm::IRBuilder<> builder(&division);
    Value *a = division.getOperand(0), *b = division.getOperand(1);
    const auto opcode = division.getOpcode();
    const bool is_signed = opcode == BinaryOperator::SDiv || opcode == BinaryOperator::SRem;
    Value* quotient = is_signed ? signed_quotient(builder, a, b) : unsigned_quotient(builder, a, b, b, is_signed);
    if (opcode == BinaryOperator::SDiv || opcode == BinaryOperator::UDiv) return quotient;
    return builder.CreateSub(a, builder.CreateMul(quotient, b));
  }

  Value* signed_quotient(llvm::IRBuilder<>& builder, Value* a, Value* b) {
    const auto magnitude = [&](Value* number) {
      return builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, number, builder.getFalse());
    };
    Value* of_both = unsigned_quotient(builder, magnitude(a), magnitude(b), b, /*is_signed=*/true);
    Value* sign = builder.CreateAShr(builder.CreateXor(a, b), 31);  // all ones: the quotient is negative
    return builder.CreateSub(builder.CreateXor(of_both, sign), sign);
  }

  /// `divisor`: of which `b` is the magnitude, or the same.
  Value* unsigned_quotient(llvm::IRBuilder<>& builder, Value* a, Value* b, Value* divisor, bool is_signed) {
    Value* low =
        builder.CreateXor(a, llvm::ConstantInt::getSigned(a->getType(), INT32_MIN));  // a - 2^31, as a signed one
    const Divisor by = divisor_of(builder, b, divisor, is_signed);
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(a->getType())->getNumElements();
    Value* all = nullptr;
    for (unsigned first = 0; first < lanes; first += kDividedTogether) {
      const auto part = [&](Value* row) {
        return lanes <= kDividedTogether
                   ? row
                   : builder.CreateShuffleVector(row, llvm::createSequentialMask(first, kDividedTogether, 0));
      };
      Value* from = part(low);
      const auto count = llvm::cast<llvm::FixedVectorType>(from->getType())->getElementCount();
      llvm::Type *doubles = llvm::VectorType::get(builder.getDoubleTy(), count),
                 *wide = llvm::VectorType::get(builder.getInt64Ty(), count);
      Value* sum = builder.CreateFAdd(builder.CreateSIToFP(from, doubles), part(by.offset));
      Value* rounded = multiply_and_add(builder, sum, part(by.inverse), llvm::ConstantFP::get(doubles, kRounds));
      Value* numbers = builder.CreateTrunc(builder.CreateBitCast(rounded, wide), from->getType());
      all = all ? joined(builder, all, numbers, first) : numbers;
    }
    return all;
  }

  /// `numbers` behind the `before` first ones.
  static Value* joined(llvm::IRBuilder<>& builder, Value* all, Value* numbers, unsigned before) {
    Value* as_long = builder.CreateShuffleVector(
        numbers, llvm::createSequentialMask(0, kDividedTogether, before - kDividedTogether));
    return builder.CreateShuffleVector(all, as_long, llvm::createSequentialMask(0, before + kDividedTogether, 0));
  }

  Value* multiply_and_add(llvm::IRBuilder<>& builder, Value* a, Value* b, Value* c) const {
    if (fuses_) return builder.CreateIntrinsic(llvm::Intrinsic::fma, {a->getType()}, {a, b, c});
    return builder.CreateFAdd(builder.CreateFMul(a, b), c);
  }

  Divisor divisor_of(llvm::IRBuilder<>& builder, Value* b, Value* divisor, bool is_signed) {
    const auto lanes = llvm::cast<llvm::FixedVectorType>(divisor->getType())->getElementCount();
    if (Value* one = llvm::getSplatValue(divisor)) {
      const Divisor of_one = divisor_of(*one, is_signed);
      return {builder.CreateVectorSplat(lanes, of_one.inverse), builder.CreateVectorSplat(lanes, of_one.offset)};
    }
    // Of a division that is told from one by 0 and of INT_MIN by -1, which would trap.
    if (auto* chosen = llvm::dyn_cast<llvm::SelectInst>(divisor)) {
      Value *then = llvm::getSplatValue(chosen->getTrueValue()),
            *otherwise = llvm::getSplatValue(chosen->getFalseValue());
      if (then && otherwise) {
        const Divisor one = divisor_of(*then, is_signed), other = divisor_of(*otherwise, is_signed);
        const auto choose = [&](Value* first, Value* second) {
          return builder.CreateSelect(chosen->getCondition(), builder.CreateVectorSplat(lanes, first),
                                      builder.CreateVectorSplat(lanes, second));
        };
        return {choose(one.inverse, other.inverse), choose(one.offset, other.offset)};
      }
    }
    return inverse(builder, builder.CreateUIToFP(b, llvm::VectorType::get(builder.getDoubleTy(), lanes)));
  }

  /// Of what all lanes divide by; once, where it is known.
  Divisor divisor_of(Value& one, bool is_signed) {
    Divisor& found = known_[{&one, is_signed}];
    if (found.inverse) return found;
    llvm::BasicBlock& entry = function_.getEntryBlock();
    llvm::BasicBlock::iterator place = entry.getFirstNonPHIOrDbgOrAlloca();
    if (auto* made = llvm::dyn_cast<llvm::Instruction>(&one)) place = *made->getInsertionPointAfterDef();
    llvm::IRBuilder<> builder(place->getParent(), place);
    Value* magnitude = is_signed ? builder.CreateBinaryIntrinsic(llvm::Intrinsic::abs, &one, builder.getFalse()) : &one;
    return found = inverse(builder, builder.CreateUIToFP(magnitude, builder.getDoubleTy()));
  }

  static Divisor inverse(llvm::IRBuilder<>& builder, Value* b) {
    const auto number = [&](double value) { return llvm::ConstantFP::get(b->getType(), value); };
    return {builder.CreateFDiv(number(1), b),
            builder.CreateFSub(number(kHalfRange + 0.5), builder.CreateFMul(b, number(0.5)))};
  }

  llvm::Function& function_;
  const bool fuses_;
  std::map<std::pair<Value*, bool>, Divisor> known_;
};

}  // namespace

void divide_rows(llvm::Function& function, const llvm::TargetMachine& machine) {
  DividedRows(function, machine).divide();
}

}  // namespace cupola::cpu::build
