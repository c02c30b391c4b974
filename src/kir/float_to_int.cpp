#include "kir/float_to_int.h"

namespace cupola::kir {

llvm::Value* float_to_int(llvm::IRBuilderBase& b, llvm::Value* value, llvm::Type* result, bool is_signed) {
  const unsigned width = result->getScalarSizeInBits();
  if (width < 32) {
    llvm::Value* wide = float_to_int(b, value, result->getWithNewBitWidth(32), is_signed);
    return b.CreateTrunc(wide, result);
  }
  const bool is_double = value->getType()->getScalarType()->isDoubleTy();
  const llvm::APInt nan_result =
      is_double || width >= 64 ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getZero(width);
  if (value->getType()->getScalarSizeInBits() == 16)  // 2^31 is no number of f16
    value = b.CreateFPExt(value, value->getType()->getWithNewType(b.getFloatTy()));

  llvm::Type* type = value->getType();
  const llvm::APInt least = is_signed ? llvm::APInt::getSignedMinValue(width) : llvm::APInt::getZero(width);
  const llvm::APInt most = is_signed ? llvm::APInt::getSignedMaxValue(width) : llvm::APInt::getMaxValue(width);
  const auto power_of_two = [&](unsigned exponent) {
    llvm::APFloat number(type->getScalarType()->getFltSemantics(), 1);
    return llvm::scalbn(number, static_cast<int>(exponent), llvm::APFloat::rmNearestTiesToEven);
  };
  llvm::APFloat lower =
      is_signed ? llvm::neg(power_of_two(width - 1)) : llvm::APFloat::getZero(type->getScalarType()->getFltSemantics());
  llvm::Value* too_low = b.CreateFCmpOLT(value, llvm::ConstantFP::get(type, lower));
  llvm::Value* too_high =
      b.CreateFCmpOGE(value, llvm::ConstantFP::get(type, power_of_two(is_signed ? width - 1 : width)));
  llvm::Value* plain = is_signed ? b.CreateFPToSI(value, result) : b.CreateFPToUI(value, result);
  llvm::Value* clamped = b.CreateSelect(too_low, llvm::ConstantInt::get(result, least), plain);
  clamped = b.CreateSelect(too_high, llvm::ConstantInt::get(result, most), clamped);
  return b.CreateSelect(b.CreateFCmpUNO(value, value), llvm::ConstantInt::get(result, nan_result), clamped);
}

}  // namespace cupola::kir
