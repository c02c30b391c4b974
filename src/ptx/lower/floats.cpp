#include "kir/kir.h"
#include "ptx/lower/float_values.h"

// Floating-point arithmetic of all widths. PTX ISA, "Floating-Point Instructions", "Half Precision Floating-Point
// Instructions". What the ISA calls approximate is computed to the last bit or nearly so, which its bounds allow;
// inputs for which it gives a value get that value.

namespace cupola::ptx {
namespace {

/// The one of f32 and f64 that directed rounding has functions for.
llvm::StringRef suffix(Emission& e) {
  return e.type() == Type::F64 ? ".d" : ".f";
}

Value* one(Value* like) {
  return llvm::ConstantFP::get(like->getType(), 1.0);
}

/// The part of an f64 that the approximate instructions with .ftz look at and produce.
Value* upper_word(Emission& e, Value* value) {
  Value* bits = e.b.CreateAnd(e.b.CreateBitCast(value, e.b.getInt64Ty()), 0xffffffff00000000);
  return e.b.CreateBitCast(bits, value->getType());
}

/// rcp.approx.ftz.f64, rsqrt.approx.ftz.f64: the low words of the operand and of the result count as zero.
template <typename Compute>
void by_upper_word(Emission& e, Compute compute) {
  Value* x = flush(e, upper_word(e, e.read(1)));
  e.write(0, upper_word(e, flush(e, compute(x))));
}

}  // namespace

namespace emit {

void test_property(Emission& e) {
  struct Property {
    Modifier modifier;
    llvm::FPClassTest classes;
  };
  // Zeros count as normal.
  constexpr Property kProperties[] = {{Modifier::Finite, llvm::fcFinite},
                                      {Modifier::Infinite, llvm::fcInf},
                                      {Modifier::Number, llvm::FPClassTest(llvm::fcFinite | llvm::fcInf)},
                                      {Modifier::NotANumber, llvm::fcNan},
                                      {Modifier::Normal, llvm::FPClassTest(llvm::fcNormal | llvm::fcZero)},
                                      {Modifier::Subnormal, llvm::fcSubnormal}};
  for (const Property& property : kProperties)
    if (e.has(property.modifier)) e.write(0, e.b.createIsFPClass(e.read(1), property.classes));
}

void copy_sign(Emission& e) {
  Value* sign = e.read(1);
  e.write(0, e.b.CreateBinaryIntrinsic(Id::copysign, e.read(2), sign));
}

void float_add(Emission& e) {
  Value* x = read_operand(e, 1);
  Value* y = read_operand(e, 2);
  const bool subtracts = e.opcode() == "sub";
  if (directed_rounding(e).empty()) return write_result(e, subtracts ? e.b.CreateFSub(x, y) : e.b.CreateFAdd(x, y));
  write_result(e, rounded_call(e, "add", {x, subtracts ? e.b.CreateFNeg(y) : y}, suffix(e)));
}

void float_multiply(Emission& e) {
  Value* x = read_operand(e, 1);
  Value* y = read_operand(e, 2);
  write_result(e, x, [&](Value* first) {
    return directed_rounding(e).empty() ? e.b.CreateFMul(first, y) : rounded_call(e, "mul", {first, y}, suffix(e));
  });
}

void float_fused(Emission& e) {
  if (e.has(Modifier::Oob)) return e.refuse("the bits of an out-of-bounds NaN are not documented");
  Value* x = read_operand(e, 1);
  Value* y = read_operand(e, 2);
  Value* z = read_operand(e, 3);
  const bool nearest = directed_rounding(e).empty();
  write_result(e, nearest ? e.call(Id::fma, {x, y, z}, {x->getType()}) : rounded_call(e, "fma", {x, y, z}, suffix(e)));
}

void float_divide(Emission& e) {
  Value* x = read_operand(e, 1);
  Value* y = read_operand(e, 2);
  if (!e.any(Modifier::Approx, Modifier::Full))
    return write_result(e, x, [&](Value* first) {
      return directed_rounding(e).empty() ? e.b.CreateFDiv(first, y) : rounded_call(e, "div", {first, y}, suffix(e));
    });
  Value* quotient = kir::let_approximate(e.b.CreateFDiv(x, y));
  if (e.has(Modifier::Approx)) {  // a divisor between 2^126 and infinity counts as infinity
    Value* size = e.b.CreateUnaryIntrinsic(Id::fabs, y);
    Value* large = e.b.CreateAnd(e.b.CreateFCmpOGT(size, llvm::ConstantFP::get(y->getType(), 0x1p126)),
                                 e.b.CreateFCmpOLT(size, llvm::ConstantFP::getInfinity(y->getType())));
    Value* zero = e.b.CreateBinaryIntrinsic(Id::copysign, llvm::ConstantFP::get(y->getType(), 0.0), y);
    quotient = e.b.CreateSelect(large, e.b.CreateFMul(x, zero), quotient);
  }
  write_result(e, quotient);
}

/// An operand of what does no arithmetic: no mode of arithmetic flushes it.
Value* read_bits(Emission& e) {
  return e.has(Modifier::Ftz) ? flush(e, e.read(1)) : e.read(1);
}

void float_absolute(Emission& e) {
  e.write(0, absolute(e, read_bits(e)));
}

void float_negate(Emission& e) {
  e.write(0, e.b.CreateFNeg(read_bits(e)));
}

/// min, max. A NaN loses unless .NaN; -0 is below +0. .xorsign.abs: of the magnitudes, with the product's sign.
void float_extreme(Emission& e) {
  Value* x = read_operand(e, 1);
  Value* y = read_operand(e, 2);
  const bool by_size = e.has(Modifier::Xorsign);
  const bool least = e.opcode() == "min";
  const auto size = [&](Value* value) { return by_size ? absolute(e, value) : value; };
  const Id::ID id = e.has(Modifier::NaN) ? (least ? Id::minimum : Id::maximum)
                    : least              ? Id::minimumnum
                                         : Id::maximumnum;
  Value* result = e.b.CreateBinaryIntrinsic(id, size(x), size(y));
  if (by_size) {
    llvm::Type* bits = bits_type(x->getType());
    Value* sign = e.b.CreateXor(e.b.CreateBitCast(x, bits), e.b.CreateBitCast(y, bits));
    result = e.b.CreateBinaryIntrinsic(Id::copysign, result, e.b.CreateBitCast(sign, x->getType()));
  }
  if (e.type() != Type::F64) return e.write(0, canonical_nan(e, result));
  // Of two NaNs an H200 gives the second, made quiet.
  Value* bits = e.b.CreateOr(e.b.CreateBitCast(y, e.b.getInt64Ty()), uint64_t{1} << 51);
  Value* nan = e.b.CreateBitCast(bits, y->getType());
  e.write(0, e.b.CreateSelect(e.b.CreateFCmpUNO(result, result), nan, result));
}

void reciprocal(Emission& e) {
  if (e.type() == Type::F64 && e.has(Modifier::Approx))
    return by_upper_word(e, [&](Value* x) { return e.b.CreateFDiv(one(x), x); });
  Value* x = read_operand(e, 1);
  if (e.has(Modifier::Approx)) return write_result(e, kir::let_approximate(e.b.CreateFDiv(one(x), x)));
  write_result(e, one(x), [&](Value* first) {
    return directed_rounding(e).empty() ? e.b.CreateFDiv(first, x) : rounded_call(e, "div", {first, x}, suffix(e));
  });
}

void square_root(Emission& e) {
  Value* x = read_operand(e, 1);
  if (!directed_rounding(e).empty()) return write_result(e, rounded_call(e, "sqrt", {x}, suffix(e)));
  Value* root = e.b.CreateUnaryIntrinsic(Id::sqrt, x);
  write_result(e, e.has(Modifier::Approx) ? kir::let_approximate(root) : root);
}

void reciprocal_square_root(Emission& e) {
  const auto compute = [&](Value* x) {
    Value* root = kir::let_approximate(e.b.CreateUnaryIntrinsic(Id::sqrt, x));
    return kir::let_approximate(e.b.CreateFDiv(one(x), root));
  };
  if (e.type() == Type::F64 && e.has(Modifier::Ftz)) return by_upper_word(e, compute);
  write_result(e, compute(read_operand(e, 1)));
}

/// Of a denormal itself: tanh, which has no `.ftz`, where the function flushes all the same.
Value* unless_denormal(Emission& e, Value* x, Value* result) {
  Value* size = e.b.CreateAnd(e.b.CreateBitCast(x, e.b.getInt32Ty()), 0x7fffffff);
  return e.b.CreateSelect(e.b.CreateICmpULT(size, e.b.getInt32(0x00800000)), x, result);
}

void transcendental(Emission& e) {
  struct Function {
    std::string_view opcode;
    Id::ID id;
  };
  constexpr Function kFunctions[] = {
      {"sin", Id::sin}, {"cos", Id::cos}, {"lg2", Id::log2}, {"ex2", Id::exp2}, {"tanh", Id::tanh}};
  Value* x = read_operand(e, 1);
  llvm::Type* type = x->getType();
  const bool narrow = type->getScalarSizeInBits() == 16;
  if (narrow) x = e.b.CreateFPExt(x, type->getWithNewType(e.b.getFloatTy()));
  for (const Function& function : kFunctions) {
    if (function.opcode != e.opcode()) continue;
    Value* result = e.b.CreateUnaryIntrinsic(function.id, x);
    if (e.flushes_as_a_whole && !narrow && function.id == Id::tanh) result = unless_denormal(e, x, result);
    return write_result(e, narrow ? e.b.CreateFPTrunc(result, type) : result);
  }
}

}  // namespace emit
}  // namespace cupola::ptx
