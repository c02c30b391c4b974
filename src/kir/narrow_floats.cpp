// LLVM does arithmetic of half and bfloat in float and narrows. That is right for one addition, product, quotient or
// root, since float has more than twice the digits and two more (Figueroa, "When is double rounding innocuous?"), and
// wrong or slow elsewhere on x86:
//
//   fma of bfloat               rounds to float first
//   fma of half                 is right, by way of double and a call for each of the eight lanes of a register
//   integers to bfloat          round to float first
//   double to half or bfloat    is a call
//   float to bfloat             flushes denormals where the processor has an instruction for it, else is a call
//
// Here the wide result is rounded to odd: where it is not exact, its last bit is set. Nothing that has such a bit far
// below its last place is a tie, so narrowing it rounds as narrowing the exact number would (Boldo and Melquiond,
// "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").

#include "kir/narrow_floats.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace cupola::kir {
namespace {

using llvm::Type;
using llvm::Value;

bool is_bfloat(const Type* type) {
  return type->getScalarType()->isBFloatTy();
}
bool is_narrow(const Type* type) {
  return type->getScalarType()->isBFloatTy() || type->getScalarType()->isHalfTy();
}

/// Replaces one instruction.
class Expander {
 public:
  explicit Expander(llvm::Instruction& instruction) : instruction_(instruction), b_(&instruction) {}

  /// Null where the instruction may stay.
  Result<Value*> value() {
    if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction_)) return intrinsic(*call);
    Type* type = instruction_.getType();
    switch (instruction_.getOpcode()) {
      case llvm::Instruction::FAdd:
      case llvm::Instruction::FSub:
      case llvm::Instruction::FMul:
      case llvm::Instruction::FDiv:
      case llvm::Instruction::FRem:
        if (!is_bfloat(type)) return nullptr;
        return narrowed(b_.CreateBinOp(static_cast<llvm::Instruction::BinaryOps>(instruction_.getOpcode()),
                                       widened(operand(0)), widened(operand(1))),
                        type);
      case llvm::Instruction::FNeg:
        return is_bfloat(type) ? bits_to(b_.CreateXor(bits_of(operand(0)), sign_of(type)), type) : nullptr;
      case llvm::Instruction::FPTrunc:
        return truncated(operand(0), type);
      case llvm::Instruction::SIToFP:
      case llvm::Instruction::UIToFP:
        if (!is_bfloat(type)) return nullptr;  // what is not exact in float is infinite in half
        return integer(operand(0), type, instruction_.getOpcode() == llvm::Instruction::SIToFP);
      default:
        return nullptr;
    }
  }

 private:
  Value* operand(unsigned i) const { return instruction_.getOperand(i); }

  Type* floats(Type* shape) { return shape->getWithNewType(b_.getFloatTy()); }
  Type* doubles(Type* shape) { return shape->getWithNewType(b_.getDoubleTy()); }
  Type* words(Type* shape) { return shape->getWithNewType(b_.getIntNTy(shape->getScalarSizeInBits())); }
  Value* bits_of(Value* value) { return b_.CreateBitCast(value, words(value->getType())); }
  Value* bits_to(Value* bits, Type* type) { return b_.CreateBitCast(bits, type); }
  llvm::Constant* sign_of(Type* type) {
    return llvm::ConstantInt::get(words(type), llvm::APInt::getSignMask(type->getScalarSizeInBits()));
  }

  Value* widened(Value* value) { return b_.CreateFPExt(value, floats(value->getType())); }

  /// `nearest` is the number nearest to an exact one that differs from it where `inexact`, and is farther from zero
  /// where `farther`: the exact one rounded to odd.
  Value* to_odd(Value* nearest, Value* inexact, Value* farther) {
    Value* bits = bits_of(nearest);
    Type* type = bits->getType();
    Value* one = llvm::ConstantInt::get(type, 1);
    Value* even = b_.CreateICmpEQ(b_.CreateAnd(bits, one), llvm::Constant::getNullValue(type));
    Value* step = b_.CreateSelect(farther, one, llvm::Constant::getAllOnesValue(type));
    Value* odd = b_.CreateAdd(bits, step);
    return bits_to(b_.CreateSelect(b_.CreateAnd(inexact, even), odd, bits), nearest->getType());
  }

  Value* float_to_odd(Value* value) {
    Value* nearest = b_.CreateFPTrunc(value, floats(value->getType()));
    Value* back = b_.CreateFPExt(nearest, value->getType());
    Value* farther = b_.CreateFCmpOGT(b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value),
                                      b_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, back));
    return to_odd(nearest, b_.CreateFCmpONE(value, back), farther);
  }

  /// x + y rounded to odd. Knuth's sum has an exact error, since nothing here overflows.
  Value* sum_to_odd(Value* x, Value* y) {
    Value* sum = b_.CreateFAdd(x, y);
    Value* second = b_.CreateFSub(sum, x);
    Value* first = b_.CreateFSub(sum, second);
    Value* error = b_.CreateFAdd(b_.CreateFSub(x, first), b_.CreateFSub(y, second));
    Type* type = sum->getType();
    Value* zero = llvm::ConstantFP::get(type, 0.0);
    Value* farther = b_.CreateICmpEQ(b_.CreateFCmpOGT(error, zero), b_.CreateFCmpOGT(sum, zero));
    return to_odd(sum, b_.CreateFCmpONE(error, zero), farther);
  }

  /// Of a float to the nearest half or bfloat.
  Value* narrowed(Value* value, Type* type) {
    Value* unordered = b_.CreateFCmpUNO(value, value);
    Value* result;
    if (is_bfloat(type)) {
      Value* bits = bits_of(value);
      const auto constant = [&](uint64_t number) { return llvm::ConstantInt::get(bits->getType(), number); };
      Value* last = b_.CreateAnd(b_.CreateLShr(bits, 16), constant(1));
      Value* carried = b_.CreateAdd(bits, b_.CreateAdd(last, constant(0x7fff)));
      result = b_.CreateTrunc(b_.CreateLShr(carried, 16), words(type));
    } else {
      result = bits_of(b_.CreateFPTrunc(value, type));
    }
    return bits_to(b_.CreateSelect(unordered, llvm::ConstantInt::get(words(type), 0x7fff), result), type);
  }

  Value* truncated(Value* value, Type* type) {
    if (!is_narrow(type)) return nullptr;
    if (value->getType()->getScalarType()->isDoubleTy()) return narrowed(float_to_odd(value), type);
    return is_bfloat(type) ? narrowed(value, type) : nullptr;
  }

  Result<Value*> integer(Value* value, Type* type, bool is_signed) {
    const unsigned width = value->getType()->getScalarSizeInBits();
    const auto converted = [&](Type* to) {
      return is_signed ? b_.CreateSIToFP(value, to) : b_.CreateUIToFP(value, to);
    };
    if (width <= 24) return narrowed(converted(floats(type)), type);
    if (width > 64)
      return fail(ErrorCode::NotSupported, "function '{}' converts an integer of {} bits to bfloat",
                  instruction_.getFunction()->getName().str(), width);
    if (width > 53) value = with_sticky_bit(value, is_signed);
    return narrowed(float_to_odd(converted(doubles(type))), type);
  }

  /// An integer too large for a double rounded to odd in its upper 53 bits.
  Value* with_sticky_bit(Value* value, bool is_signed) {
    Type* type = value->getType()->getWithNewBitWidth(64);
    value = is_signed ? b_.CreateSExt(value, type) : b_.CreateZExt(value, type);
    const auto constant = [&](uint64_t number) { return llvm::ConstantInt::get(type, number); };
    constexpr uint64_t kMost = uint64_t{1} << 53;
    Value* large = is_signed ? b_.CreateICmpUGT(b_.CreateAdd(value, constant(kMost)), constant(2 * kMost))
                             : b_.CreateICmpUGT(value, constant(kMost));
    Value* rest = b_.CreateICmpNE(b_.CreateAnd(value, constant(0x7ff)), constant(0));
    Value* upper = b_.CreateAnd(value, constant(~uint64_t{0x7ff}));
    Value* odd = b_.CreateOr(upper, b_.CreateSelect(rest, constant(0x800), constant(0)));
    return b_.CreateSelect(large, odd, value);
  }

  /// Products are exact in the wider type: 22 digits of half in float, 16 of bfloat in double with its exponents.
  Value* fma(llvm::IntrinsicInst& call) {
    Type* type = call.getType();
    Type* wide = is_bfloat(type) ? doubles(type) : floats(type);
    Value* x[3];
    for (unsigned i = 0; i < 3; ++i) x[i] = b_.CreateFPExt(call.getArgOperand(i), wide);
    Value* sum = sum_to_odd(b_.CreateFMul(x[0], x[1]), x[2]);
    return narrowed(is_bfloat(type) ? float_to_odd(sum) : sum, type);
  }

  Result<Value*> intrinsic(llvm::IntrinsicInst& call) {
    switch (call.getIntrinsicID()) {
      case llvm::Intrinsic::fma:
        return is_narrow(call.getType()) ? fma(call) : nullptr;
      case llvm::Intrinsic::fabs:
        if (!is_bfloat(call.getType())) return nullptr;
        return bits_to(b_.CreateAnd(bits_of(call.getArgOperand(0)), b_.CreateNot(sign_of(call.getType()))),
                       call.getType());
      case llvm::Intrinsic::copysign: {
        if (!is_bfloat(call.getType())) return nullptr;
        llvm::Constant* sign = sign_of(call.getType());
        Value* size = b_.CreateAnd(bits_of(call.getArgOperand(0)), b_.CreateNot(sign));
        return bits_to(b_.CreateOr(size, b_.CreateAnd(bits_of(call.getArgOperand(1)), sign)), call.getType());
      }
      case llvm::Intrinsic::is_fpclass:  // asks for the bits as they are
        return nullptr;
      default:
        return computed_in_float(call);
    }
  }

  /// Any other function of bfloats, through the function of floats; and functions of halves that give two values, which
  /// LLVM's code generation does not know.
  Value* computed_in_float(llvm::IntrinsicInst& call) {
    auto* several = llvm::dyn_cast<llvm::StructType>(call.getType());
    const auto promoted = [&](const Type* type) { return several ? is_narrow(type) : is_bfloat(type); };
    llvm::SmallVector<Type*, 4> overloads;
    if (!llvm::Intrinsic::getIntrinsicSignature(call.getCalledFunction(), overloads)) return nullptr;
    bool found = false;
    for (Type*& type : overloads)
      if (promoted(type)) type = floats(type), found = true;
    if (!found) return nullptr;
    llvm::SmallVector<Value*, 4> arguments;
    for (Value* argument : call.args())
      arguments.push_back(promoted(argument->getType()) ? widened(argument) : argument);
    Value* result = b_.CreateIntrinsic(call.getIntrinsicID(), overloads, arguments);
    if (!several) return is_bfloat(call.getType()) ? narrowed(result, call.getType()) : result;
    Value* all = llvm::PoisonValue::get(several);
    for (unsigned i = 0; i < several->getNumElements(); ++i) {
      Type* type = several->getElementType(i);
      Value* one = b_.CreateExtractValue(result, i);
      all = b_.CreateInsertValue(all, promoted(type) ? narrowed(one, type) : one, i);
    }
    return all;
  }

  llvm::Instruction& instruction_;
  llvm::IRBuilder<> b_;
};

}  // namespace

Result<> expand_narrow_floats(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::Instruction*, 64> work;
    for (llvm::Instruction& instruction : llvm::instructions(function)) work.push_back(&instruction);
    for (llvm::Instruction* instruction : work) {
      TRY(Value * value, Expander(*instruction).value());
      if (!value) continue;
      instruction->replaceAllUsesWith(value);
      instruction->eraseFromParent();
    }
  }
  return {};
}

}  // namespace cupola::kir
