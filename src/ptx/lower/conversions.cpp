#include <algorithm>

#include "kir/expansion.h"
#include "kir/float_to_int.h"
#include "ptx/lower/float_values.h"

// cvt between the integer and floating-point types of registers. PTX ISA, "cvt". Packed and 8-bit formats are in
// packed_conversions.cpp.

namespace cupola::ptx {
namespace {

/// `.ftz` of cvt concerns f32 operands and results only.
Value* flush_single(Emission& e, Value* value) {
  return e.has(Modifier::Ftz) ? kir::flush(e.b, value) : value;
}

Value* integer_to_float(Emission& e, Value* value, bool is_signed, llvm::Type* to) {
  const unsigned width = value->getType()->getIntegerBitWidth();
  const bool exact = width < static_cast<unsigned>(to->getFPMantissaWidth());
  if (exact || directed_rounding(e).empty())
    return is_signed ? e.b.CreateSIToFP(value, to) : e.b.CreateUIToFP(value, to);
  if (to->getScalarSizeInBits() == 16)  // rounding twice in one direction is rounding once
    return narrow(e, integer_to_float(e, value, is_signed, e.b.getDoubleTy()), to);
  const llvm::StringRef from = width == 64 ? (is_signed ? "ll2" : "ull2") : is_signed ? "i2" : "ui2";
  return rounded_call(e, (from + (to->isDoubleTy() ? "d" : "f")).str(), {value}, "");
}

/// To at least 32 bits, saturating.
Value* to_wide_integer(Emission& e, Value* value, llvm::Type* to, bool is_signed) {
  if (llvm::isa<llvm::Constant>(value)) return kir::float_to_int(e.b, value, to, is_signed);  // never folds to poison
  return is_signed ? e.b.CreateFPToSI(value, to) : e.b.CreateFPToUI(value, to);
}

/// Rounded to an integer as .rni, .rzi, .rmi or .rpi say; null without one of them.
Value* rounded_to_integer(Emission& e, Value* value) {
  struct Rounding {
    Modifier modifier;
    Id::ID id;
  };
  constexpr Rounding kRoundings[] = {{Modifier::Rni, Id::roundeven},
                                     {Modifier::Rzi, Id::trunc},
                                     {Modifier::Rmi, Id::floor},
                                     {Modifier::Rpi, Id::ceil}};
  for (const Rounding& rounding : kRoundings)
    if (e.has(rounding.modifier)) return e.b.CreateUnaryIntrinsic(rounding.id, value);
  return nullptr;
}

/// A floating-point number as another type.
Value* resize(Emission& e, Value* value, llvm::Type* to) {
  const unsigned have = value->getType()->getScalarSizeInBits(), want = to->getScalarSizeInBits();
  if (want > have) return e.b.CreateFPExt(value, to);
  if (want == 16 && have == 16) value = e.b.CreateFPExt(value, e.b.getFloatTy());  // f16 and bf16
  return narrow(e, value, to);
}

/// The integer brought into the range of `to`. `from` says how it is to be read.
Value* clamped(Emission& e, Value* value, Type from, Type to) {
  const unsigned have = bits_of(from), want = bits_of(to);
  llvm::Type* type = e.b.getIntNTy(std::max(have, want));
  value = e.convert(value, type, is_signed(from));
  const auto limit = [&](const llvm::APInt& bits, bool sign) {
    return llvm::ConstantInt::get(type,
                                  sign ? bits.sext(type->getIntegerBitWidth()) : bits.zext(type->getIntegerBitWidth()));
  };
  const llvm::APInt most = is_signed(to) ? llvm::APInt::getSignedMaxValue(want) : llvm::APInt::getMaxValue(want);
  if (!is_signed(from)) return e.b.CreateBinaryIntrinsic(Id::umin, value, limit(most, false));
  const llvm::APInt least = is_signed(to) ? llvm::APInt::getSignedMinValue(want) : llvm::APInt::getZero(want);
  value = e.b.CreateBinaryIntrinsic(Id::smax, value, limit(least, is_signed(to)));
  if (want > have || (want == have && !is_signed(to))) return value;  // none is above the range
  return e.b.CreateBinaryIntrinsic(Id::smin, value, limit(most, false));
}

}  // namespace

Value* narrow(Emission& e, Value* value, llvm::Type* to) {
  if (directed_rounding(e).empty()) return canonical_nan(e, e.b.CreateFPTrunc(value, to));
  if (to->isFloatTy()) return canonical_nan(e, rounded_call(e, "d2f", {value}, ""));
  const llvm::StringRef format = to->isHalfTy() ? "f16_" : "bf16_";
  if (!value->getType()->isDoubleTy()) value = e.b.CreateFPExt(value, e.b.getDoubleTy());
  const std::string name = ("__cupola_ptx_to_" + llvm::Twine(format) + directed_rounding(e)).str();
  return e.convert(e.call_library(name, e.b.getInt32Ty(), {value}), to);
}

namespace emit {

void convert_integer(Emission& e) {
  const Type to = e.type(0), from = e.type(1);
  Value* value = e.read(1);
  if (e.has(Modifier::Sat)) value = clamped(e, value, from, to);
  e.write(0, e.convert(value, e.value_type(to), is_signed(from)));
}

void convert_to_float(Emission& e) {
  Value* value = integer_to_float(e, e.read(1), is_signed(e.type(1)), e.value_type(e.type(0)));
  e.write(0, e.has(Modifier::Sat) ? saturate(e, value) : value);
}

/// Saturates without .sat too. NaN gives 0, but the highest bit alone where the source is f64 or the result has 64
/// bits.
void convert_to_integer(Emission& e) {
  const Type to = e.type(0), from = e.type(1);
  const unsigned width = bits_of(to);
  Value* value = flush_single(e, e.read(1));
  if (bits_of(from) == 16) value = e.b.CreateFPExt(value, e.b.getFloatTy());
  Value* nan = e.b.CreateFCmpUNO(value, value);
  Value* whole = rounded_to_integer(e, value);
  if (width >= 32) return e.write(0, to_wide_integer(e, whole, e.value_type(to), is_signed(to)));
  Value* wide = to_wide_integer(e, whole, e.b.getInt32Ty(), is_signed(to));
  Value* result = e.b.CreateTrunc(clamped(e, wide, is_signed(to) ? Type::S32 : Type::U32, to), e.value_type(to));
  if (from == Type::F64) {
    Value* highest = llvm::ConstantInt::get(e.value_type(to), llvm::APInt::getSignMask(width));
    result = e.b.CreateSelect(nan, highest, result);
  }
  e.write(0, result);
}

void convert_float(Emission& e) {
  const Type to = e.type(0), from = e.type(1);
  // To f16 an H200 does not flush, whatever .ftz says.
  Value* value = to == Type::F16 ? e.read(1) : flush_single(e, e.read(1));
  if (Value* whole = rounded_to_integer(e, value)) {
    if (to != from) return e.refuse("rounding to an integer needs the same type on both sides");
    value = whole;
  }
  if (to != from) {
    if (bits_of(to) < bits_of(from) && directed_rounding(e).empty() && !e.has(Modifier::Rn))
      return e.refuse("a rounding modifier is needed");
    value = resize(e, value, e.value_type(to));
  }
  value = flush_single(e, value);
  if (e.has(Modifier::Satfinite)) value = satfinite(e, value);
  if (e.has(Modifier::Relu)) value = relu(e, value);
  if (e.has(Modifier::Sat)) value = saturate(e, value);
  e.write(0, value);
}

}  // namespace emit
}  // namespace cupola::ptx
