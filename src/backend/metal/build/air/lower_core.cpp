#include "backend/metal/build/air/lower_core.h"

#include <llvm/ADT/FloatingPointMode.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/Module.h>

#include "backend/metal/air/left_out.h"
#include "backend/metal/build/air/air_functions.h"
#include "base/format.h"

namespace cupola::metal::build {
namespace {

using llvm::Value;

struct FloatRow {
  llvm::Intrinsic::ID intrinsic;
  const char* name;
  bool is_meaning;  ///< of the library, not AIR's
};
constexpr FloatRow kFloats[] = {
    {llvm::Intrinsic::fma, "fma", false},
    {llvm::Intrinsic::sqrt, "sqrt", false},
    {llvm::Intrinsic::floor, "floor", false},
    {llvm::Intrinsic::ceil, "ceil", false},
    {llvm::Intrinsic::trunc, "trunc", false},
    {llvm::Intrinsic::rint, "rint", false},
    {llvm::Intrinsic::nearbyint, "rint", false},
    {llvm::Intrinsic::roundeven, "rint", false},
    {llvm::Intrinsic::round, "round", false},
    {llvm::Intrinsic::fabs, "fabs", false},
    {llvm::Intrinsic::minnum, "llvm.minimumnum", true},
    {llvm::Intrinsic::maxnum, "llvm.maximumnum", true},
    {llvm::Intrinsic::minimum, "llvm.minimum", true},
    {llvm::Intrinsic::maximum, "llvm.maximum", true},
    {llvm::Intrinsic::minimumnum, "llvm.minimumnum", true},
    {llvm::Intrinsic::maximumnum, "llvm.maximumnum", true},
};

Value* copy_sign(llvm::IRBuilder<>& b, Value* size, Value* sign) {
  llvm::Type* type = size->getType();
  const unsigned bits = static_cast<unsigned>(type->getPrimitiveSizeInBits());
  llvm::Type* number = b.getIntNTy(bits);
  const llvm::APInt mask = llvm::APInt::getSignMask(bits);
  Value* joined = b.CreateOr(b.CreateAnd(b.CreateBitCast(size, number), llvm::ConstantInt::get(number, ~mask)),
                             b.CreateAnd(b.CreateBitCast(sign, number), llvm::ConstantInt::get(number, mask)));
  return b.CreateBitCast(joined, type);
}

/// Signed sums that stop at the ends: on overflow the end of the first operand's sign.
Value* saturated(llvm::IRBuilder<>& b, Value* x, Value* y, bool adds) {
  llvm::Type* type = x->getType();
  const unsigned bits = type->getIntegerBitWidth();
  Value* sum = adds ? b.CreateAdd(x, y) : b.CreateSub(x, y);
  Value* over = b.CreateAnd(b.CreateXor(x, adds ? sum : y), b.CreateXor(adds ? y : x, sum));
  Value* end =
      b.CreateXor(b.CreateAShr(x, bits - 1), llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits)));
  return b.CreateSelect(b.CreateICmpSLT(over, llvm::ConstantInt::get(type, 0)), end, sum);
}

Value* joined_shift(llvm::IRBuilder<>& b, Value* high, Value* low, Value* by, bool left) {
  llvm::Type* type = high->getType();
  const unsigned bits = type->getIntegerBitWidth();
  Value* mask = llvm::ConstantInt::get(type, bits - 1);
  Value* near = b.CreateAnd(by, mask);
  Value* far = b.CreateAnd(b.CreateSub(llvm::ConstantInt::get(type, bits), near), mask);
  Value* both = b.CreateOr(b.CreateShl(high, left ? near : far), b.CreateLShr(low, left ? far : near));
  return b.CreateSelect(b.CreateICmpEQ(near, llvm::ConstantInt::get(type, 0)), left ? high : low, both);
}

/// llvm.is.fpclass, by the bits: AIR's comparisons of floats may take denormals for zero.
Value* is_of_class(llvm::IRBuilder<>& b, Value* x, llvm::FPClassTest wanted) {
  const llvm::fltSemantics& form = x->getType()->getFltSemantics();
  const unsigned width = static_cast<unsigned>(x->getType()->getPrimitiveSizeInBits());
  llvm::Type* number = b.getIntNTy(width);
  const auto bits_of = [&](const llvm::APFloat& value) {
    return llvm::ConstantInt::get(number, value.bitcastToAPInt());
  };
  Value* bits = b.CreateBitCast(x, number);
  Value* size = b.CreateAnd(bits, llvm::ConstantInt::get(number, ~llvm::APInt::getSignMask(width)));
  Value* negative = b.CreateICmpSLT(bits, llvm::ConstantInt::get(number, 0));
  llvm::Constant *zero = llvm::ConstantInt::get(number, 0),
                 *normal = bits_of(llvm::APFloat::getSmallestNormalized(form)),
                 *infinity = bits_of(llvm::APFloat::getInf(form)), *quiet = bits_of(llvm::APFloat::getQNaN(form));
  Value* any = b.getFalse();
  // Sizes from `first` on and below `end`.
  const auto add = [&](llvm::FPClassTest minus, llvm::FPClassTest plus, llvm::Constant* first, llvm::Constant* end) {
    if ((wanted & (minus | plus)) == llvm::fcNone) return;
    Value* is = b.CreateICmpUGE(size, first);
    if (end) is = b.CreateAnd(is, b.CreateICmpULT(size, end));
    if ((wanted & minus) == llvm::fcNone) is = b.CreateAnd(is, b.CreateNot(negative));
    if ((wanted & plus) == llvm::fcNone) is = b.CreateAnd(is, negative);
    any = b.CreateOr(any, is);
  };
  llvm::Constant *one = llvm::ConstantInt::get(number, 1),
                 *beyond = llvm::ConstantInt::get(number, llvm::APFloat::getInf(form).bitcastToAPInt() + 1);
  add(llvm::fcNegZero, llvm::fcPosZero, zero, one);
  add(llvm::fcNegSubnormal, llvm::fcPosSubnormal, one, normal);
  add(llvm::fcNegNormal, llvm::fcPosNormal, normal, infinity);
  add(llvm::fcNegInf, llvm::fcPosInf, infinity, beyond);
  add(llvm::fcSNan, llvm::fcSNan, beyond, quiet);
  add(llvm::fcQNan, llvm::fcQNan, quiet, nullptr);
  return any;
}

std::string air_name(llvm::Type* type) {
  return formatted("{}{}", type->isIntegerTy() ? "i" : "f", type->getPrimitiveSizeInBits().getFixedValue());
}

}  // namespace

llvm::Function* LowerCore::meaning(llvm::Module& module, llvm::StringRef name) {
  llvm::Function* function = module.getFunction(formatted("meaning.{}", name.str()));
  return function && !function->isDeclaration() ? function : nullptr;
}

llvm::CallInst* LowerCore::call_meaning(llvm::IRBuilderBase& b, llvm::Function& meaning,
                                        llvm::ArrayRef<Value*> arguments) const {
  llvm::SmallVector<Value*, 8> all = {&thread_};
  all.append(arguments.begin(), arguments.end());
  return b.CreateCall(&meaning, all);
}

Value* LowerCore::of_floats(llvm::IRBuilder<>& b, llvm::CallInst& call) const {
  llvm::Type* type = call.getType();
  const llvm::Intrinsic::ID intrinsic = call.getIntrinsicID();
  if (intrinsic == llvm::Intrinsic::copysign) return copy_sign(b, call.getArgOperand(0), call.getArgOperand(1));
  if (intrinsic == llvm::Intrinsic::ldexp && call.getArgOperand(1)->getType()->isIntegerTy(32)) {
    Value* wide = b.CreateFPExt(call.getArgOperand(0), b.getFloatTy());  // a float has all of a half's powers
    return b.CreateFPTrunc(call_meaning(b, *meaning(*call.getModule(), "llvm.ldexp"), {wide, call.getArgOperand(1)}),
                           type);
  }
  for (const FloatRow& row : kFloats) {
    if (row.intrinsic != intrinsic) continue;
    llvm::SmallVector<Value*, 3> arguments(call.args());
    if (type->isHalfTy() && intrinsic == llvm::Intrinsic::fma) return call_air(b, "air.fma.f16", arguments);
    // Halves by floats: each of these gives the right half, the root because 24 bits are more than twice 11 and 2.
    for (Value*& argument : arguments) argument = b.CreateFPExt(argument, b.getFloatTy());
    Value* result = row.is_meaning ? call_meaning(b, *meaning(*call.getModule(), row.name), arguments)
                                   : call_air(b, formatted("air.{}.f32", row.name), arguments);
    return type->isHalfTy() ? b.CreateFPTrunc(result, type) : result;
  }
  return nullptr;
}

/// By functions of 64 bits.
Value* LowerCore::of_bits(llvm::IRBuilder<>& b, llvm::CallInst& call) const {
  llvm::Type* type = call.getType();
  const unsigned excess = 64 - type->getIntegerBitWidth();
  Value* wide = b.CreateZExt(call.getArgOperand(0), b.getInt64Ty());
  const auto by = [&](const char* name) { return call_meaning(b, *meaning(*call.getModule(), name), {wide}); };
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::ctpop:
      return b.CreateTrunc(by("llvm.ctpop"), type);
    case llvm::Intrinsic::ctlz:
      return b.CreateTrunc(b.CreateSub(by("llvm.ctlz"), b.getInt64(excess)), type);
    case llvm::Intrinsic::cttz:
      if (excess) wide = b.CreateOr(wide, b.getInt64(uint64_t{1} << (64 - excess)));
      return b.CreateTrunc(by("llvm.cttz"), type);
    case llvm::Intrinsic::bitreverse:
      return b.CreateTrunc(b.CreateLShr(by("llvm.bitreverse"), excess), type);
    case llvm::Intrinsic::bswap:
      return b.CreateTrunc(b.CreateLShr(by("llvm.bswap"), excess), type);
    default:
      return nullptr;
  }
}

Value* LowerCore::of_integers(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  Value* x = call.getArgOperand(0);
  Value* y = call.arg_size() > 1 ? call.getArgOperand(1) : nullptr;
  llvm::Constant* zero = llvm::Constant::getNullValue(x->getType());
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::umin:
      return b.CreateSelect(b.CreateICmpULT(x, y), x, y);
    case llvm::Intrinsic::umax:
      return b.CreateSelect(b.CreateICmpUGT(x, y), x, y);
    case llvm::Intrinsic::smin:
      return b.CreateSelect(b.CreateICmpSLT(x, y), x, y);
    case llvm::Intrinsic::smax:
      return b.CreateSelect(b.CreateICmpSGT(x, y), x, y);
    case llvm::Intrinsic::abs:
      return b.CreateSelect(b.CreateICmpSLT(x, zero), b.CreateSub(zero, x), x);
    case llvm::Intrinsic::uadd_sat: {
      Value* sum = b.CreateAdd(x, y);
      return b.CreateSelect(b.CreateICmpULT(sum, x), llvm::Constant::getAllOnesValue(x->getType()), sum);
    }
    case llvm::Intrinsic::usub_sat:
      return b.CreateSelect(b.CreateICmpULT(x, y), zero, b.CreateSub(x, y));
    case llvm::Intrinsic::sadd_sat:
      return saturated(b, x, y, true);
    case llvm::Intrinsic::ssub_sat:
      return saturated(b, x, y, false);
    case llvm::Intrinsic::fshl:
      return joined_shift(b, x, y, call.getArgOperand(2), true);
    case llvm::Intrinsic::fshr:
      return joined_shift(b, x, y, call.getArgOperand(2), false);
    default:
      return nullptr;
  }
}

Result<Value*> LowerCore::call(llvm::IRBuilder<>& b, llvm::CallInst& call) const {
  if (air::is_left_out(call)) return call.getType()->isVoidTy() ? nullptr : &call;
  if (call.getType()->isFloatTy() || call.getType()->isHalfTy()) return of_floats(b, call);
  if (!call.getType()->isIntegerTy()) return static_cast<Value*>(&call);  // the list of functions refuses it
  if (call.getIntrinsicID() == llvm::Intrinsic::is_fpclass)
    return is_of_class(
        b, call.getArgOperand(0),
        static_cast<llvm::FPClassTest>(llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->getZExtValue()));
  if (Value* value = of_integers(b, call)) return value;
  return of_bits(b, call);
}

Result<Value*> LowerCore::arithmetic(llvm::IRBuilder<>& b, llvm::Instruction& instruction) const {
  llvm::Type* type = instruction.getType();
  Value* value = instruction.getOperand(0);
  const unsigned opcode = instruction.getOpcode();
  if (opcode == llvm::Instruction::FRem) {
    llvm::SmallVector<Value*, 2> arguments;  // of halves it is exact in floats
    for (Value* operand : instruction.operand_values()) arguments.push_back(b.CreateFPExt(operand, b.getFloatTy()));
    Value* rest = call_air(b, "air.fmod.f32", arguments);
    return type->isHalfTy() ? b.CreateFPTrunc(rest, type) : rest;
  }
  if (opcode == llvm::Instruction::SIToFP && value->getType()->isIntegerTy(1))
    return b.CreateSelect(value, llvm::ConstantFP::get(type, -1), llvm::ConstantFP::get(type, 0));
  if (type->isIntegerTy(1)) return b.CreateFCmpUNE(value, llvm::ConstantFP::get(value->getType(), 0));
  const char* sign = opcode == llvm::Instruction::UIToFP || opcode == llvm::Instruction::FPToUI ? "u" : "s";
  const bool to_float = type->isFloatingPointTy();
  const char *to = to_float ? "f" : sign, *from = to_float ? sign : "f";
  return call_air(b, formatted("air.convert.{}.{}.{}.{}", to, air_name(type), from, air_name(value->getType())),
                  {value});
}

}  // namespace cupola::metal::build
