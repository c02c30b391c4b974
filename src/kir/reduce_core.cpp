// Intrinsics of LLVM's that need not reach a back-end: conversions that plain instructions express with the meaning
// that CUDA gives them, and notes for passes that do not run here.

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "kir/float_to_int.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

using llvm::Value;

/// llvm.fpto{s,u}i.sat: NaN is 0, and it saturates in the width of the result, however narrow.
Value* saturating_conversion(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call, bool is_signed) {
  Value* x = call.getArgOperand(0);
  llvm::Type* type = call.getType();
  const unsigned width = type->getScalarSizeInBits();
  Value* result = float_to_int(b, x, width < 32 ? type->getWithNewBitWidth(32) : type, is_signed);
  if (width < 32) {
    const auto bound = [&](const llvm::APInt& number) {
      return llvm::ConstantInt::get(result->getType(), is_signed ? number.sext(32) : number.zext(32));
    };
    if (is_signed) {
      result = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, result, bound(llvm::APInt::getSignedMinValue(width)));
      result = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, result, bound(llvm::APInt::getSignedMaxValue(width)));
    } else {
      result = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, result, bound(llvm::APInt::getMaxValue(width)));
    }
    result = b.CreateTrunc(result, type);
  }
  return b.CreateSelect(b.CreateFCmpUNO(x, x), llvm::Constant::getNullValue(type), result);
}

/// llvm.lrint, llvm.lround and their kin saturate as any conversion does here.
Value* rounding_conversion(llvm::IRBuilder<>& b, llvm::IntrinsicInst& call, llvm::Intrinsic::ID rounding) {
  Value* rounded = b.CreateUnaryIntrinsic(rounding, call.getArgOperand(0));
  return float_to_int(b, rounded, call.getType(), /*is_signed=*/true);
}

/// What takes the call's place: nullptr when nothing does. Nothing where the call stays.
std::optional<Value*> replacement(llvm::IntrinsicInst& call) {
  llvm::IRBuilder<> b(&call);
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::fptosi_sat:
      return saturating_conversion(b, call, true);
    case llvm::Intrinsic::fptoui_sat:
      return saturating_conversion(b, call, false);
    case llvm::Intrinsic::lrint:
    case llvm::Intrinsic::llrint:
      return rounding_conversion(b, call, llvm::Intrinsic::roundeven);
    case llvm::Intrinsic::lround:
    case llvm::Intrinsic::llround:
      return rounding_conversion(b, call, llvm::Intrinsic::round);
    case llvm::Intrinsic::canonicalize:  // flushed, where the function flushes, as any product
      return b.CreateFMul(call.getArgOperand(0), llvm::ConstantFP::get(call.getType(), 1.0));
    case llvm::Intrinsic::expect:
    case llvm::Intrinsic::expect_with_probability:
    case llvm::Intrinsic::annotation:
    case llvm::Intrinsic::ptr_annotation:
    case llvm::Intrinsic::launder_invariant_group:
    case llvm::Intrinsic::strip_invariant_group:
      return call.getArgOperand(0);
    case llvm::Intrinsic::invariant_start:
      return llvm::PoisonValue::get(call.getType());  // invariant_end, its user, goes too
    case llvm::Intrinsic::invariant_end:
    case llvm::Intrinsic::var_annotation:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::sideeffect:
    case llvm::Intrinsic::fake_use:
      return nullptr;
    default:
      return {};
  }
}

}  // namespace

void reduce_core(llvm::Module& module) {
  for (llvm::Function& function : module) {
    llvm::SmallVector<llvm::IntrinsicInst*, 32> calls;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      instruction.setMetadata(llvm::LLVMContext::MD_invariant_group, nullptr);  // launders go
      if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction)) calls.push_back(call);
    }
    for (llvm::IntrinsicInst* call : calls) {
      const std::optional<Value*> value = replacement(*call);
      if (!value) continue;
      if (*value) call->replaceAllUsesWith(*value);
      call->eraseFromParent();
    }
  }
}

}  // namespace cupola::kir
