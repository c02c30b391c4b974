#include "ptx/lower/float_values.h"

// cvt to and from two numbers in one register, tf32 and the 8-bit formats; cvt.pack. PTX ISA, "cvt", "cvt.pack".

namespace cupola::ptx {
namespace {

/// Two 8-bit numbers, zero-extended to <2 x i16>, as <2 x half>, which holds all of both formats.
Value* from_bytes(Emission& e, Value* bytes, Type format) {
  llvm::Type* words = bytes->getType();
  const auto constant = [&](uint64_t number) { return llvm::ConstantInt::get(words, number); };
  llvm::Type* halves = llvm::FixedVectorType::get(e.b.getHalfTy(), 2);
  if (format == Type::E5M2x2) return canonical_nan(e, e.b.CreateBitCast(e.b.CreateShl(bytes, 8), halves));
  // e4m3 has half's fields, one bit less of exponent, whose bias is 8 less.
  Value* size = e.b.CreateAnd(bytes, constant(0x7f));
  Value* small = e.b.CreateBitCast(e.b.CreateShl(size, 7), halves);
  Value* scaled = e.b.CreateBitCast(e.b.CreateFMul(small, llvm::ConstantFP::get(halves, 256.0)), words);
  Value* sign = e.b.CreateShl(e.b.CreateAnd(bytes, constant(0x80)), 8);
  Value* nan = e.b.CreateICmpEQ(size, constant(0x7f));
  return e.b.CreateBitCast(e.b.CreateSelect(nan, constant(0x7fff), e.b.CreateOr(scaled, sign)), halves);
}

Value* after_relu(Emission& e, Value* value) {
  return e.has(Modifier::Relu) ? relu(e, value) : value;
}

/// Bits of an f32 rounded to 10 bits of fraction.
Value* rounded_to_tf32(Emission& e, Value* bits) {
  if (e.has(Modifier::Rna)) bits = e.b.CreateAdd(bits, e.i32(0x1000));
  if (e.has(Modifier::Rn)) {
    Value* odd = e.b.CreateAnd(e.b.CreateLShr(bits, 13), 1);
    bits = e.b.CreateAdd(bits, e.b.CreateAdd(odd, e.i32(0xfff)));
  }
  return e.b.CreateAnd(bits, 0xffffe000u);
}

/// The range of a type of cvt.pack.
llvm::APInt least(Type type) {
  return is_signed(type) ? llvm::APInt::getSignedMinValue(bits_of(type)).sext(32) : llvm::APInt::getZero(32);
}
llvm::APInt most(Type type) {
  return is_signed(type) ? llvm::APInt::getSignedMaxValue(bits_of(type)).zext(32)
                         : llvm::APInt::getMaxValue(bits_of(type)).zext(32);
}

}  // namespace

namespace emit {

/// The first operand goes to the upper half.
void convert_pair(Emission& e) {
  llvm::Type* pair_type = e.value_type(e.type(0));
  Value* pair = llvm::PoisonValue::get(pair_type);
  for (const unsigned half : {0u, 1u}) {
    Value* number = narrow(e, e.read(2 - half), pair_type->getScalarType());
    pair = e.b.CreateInsertElement(pair, number, half);
  }
  if (e.has(Modifier::Satfinite)) pair = satfinite(e, pair);
  e.write(0, after_relu(e, pair));
}

/// The canonical NaN is 0x7fffe000. As measured on an H200, .rna keeps a NaN's upper bits, and with .satfinite steps
/// down from those as from infinity.
void convert_tf32(Emission& e) {
  Value* value = e.read(1);
  Value* bits = e.b.CreateBitCast(value, e.b.getInt32Ty());
  Value* nan = e.b.CreateFCmpUNO(value, value);
  Value* of_nan = e.has(Modifier::Rna) ? e.b.CreateAnd(bits, 0xffffe000u) : e.i32(0x7fffe000);
  Value* result = e.b.CreateSelect(nan, of_nan, rounded_to_tf32(e, bits));
  if (e.has(Modifier::Satfinite)) {
    Value* size = e.b.CreateAnd(result, 0x7fffffffu);
    Value* infinity = e.i32(0x7f800000);
    Value* beyond = e.has(Modifier::Rna) ? e.b.CreateICmpUGE(size, infinity) : e.b.CreateICmpEQ(size, infinity);
    result = e.b.CreateSelect(beyond, e.b.CreateSub(result, e.i32(0x2000)), result);
  }
  if (e.has(Modifier::Relu)) result = e.b.CreateBinaryIntrinsic(Id::smax, result, e.i32(0));
  e.write(0, result);
}

/// Two f32, of which the first goes to the upper byte, or an f16x2. Numbers out of range give the greatest ones.
void convert_to_bytes(Emission& e) {
  Value* upper;
  Value* lower;
  if (e.type(1) == Type::F16x2) {
    Value* pair = e.read(1);
    lower = e.b.CreateExtractElement(pair, uint64_t{0});
    upper = e.b.CreateExtractElement(pair, uint64_t{1});
  } else {
    upper = e.read(1);
    lower = e.read(2);
  }
  Value* numbers[] = {upper, lower};
  for (Value*& number : numbers) {
    if (e.has(Modifier::Relu)) number = relu(e, number);
    number = e.b.CreateFPExt(number, e.b.getDoubleTy());
  }
  const bool e4m3 = e.type(0) == Type::E4M3x2;
  Value* bytes = e.call_library(e4m3 ? "__cupola_ptx_to_e4m3x2" : "__cupola_ptx_to_e5m2x2", e.b.getInt32Ty(), numbers);
  e.write(0, e.b.CreateTrunc(bytes, e.b.getInt16Ty()));
}

void convert_from_bytes(Emission& e) {
  llvm::Type* pair = llvm::FixedVectorType::get(e.b.getInt8Ty(), 2);
  Value* bytes = e.b.CreateBitCast(e.read(1), pair);
  bytes = e.b.CreateZExt(bytes, llvm::FixedVectorType::get(e.b.getInt16Ty(), 2));
  e.write(0, after_relu(e, from_bytes(e, bytes, e.type(1))));
}

/// d = c, a, b from the upper bits down, a and b clamped to the first type.
void convert_pack(Emission& e) {
  const Type to = e.type(0);
  const unsigned width = bits_of(to);
  const auto part = [&](size_t i) {
    Value* value = e.b.CreateBinaryIntrinsic(Id::smax, e.read(i), e.b.getInt(least(to)));
    value = e.b.CreateBinaryIntrinsic(Id::smin, value, e.b.getInt(most(to)));
    return e.b.CreateAnd(value, e.b.getInt(llvm::APInt::getMaxValue(width).zext(32)));
  };
  Value* result = e.b.CreateOr(e.b.CreateShl(part(1), width), part(2));
  if (e.count() > 3) result = e.b.CreateOr(result, e.b.CreateShl(e.read(3), 2 * width));
  e.write(0, result);
}

}  // namespace emit
}  // namespace cupola::ptx
