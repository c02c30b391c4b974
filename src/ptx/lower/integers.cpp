#include "ptx/lower/emission.h"

// PTX ISA, "Integer Arithmetic Instructions", "Extended-Precision Integer Arithmetic Instructions". Sums wrap;
// divisions have a meaning for all operands in kir, see kir/define_guards.cpp.

namespace cupola::ptx::emit {
namespace {

/// x + y or x - y with the flag CC.CF: `reads` adds (subtracts) it, .cc leaves the carry (the borrow) in it.
Value* with_carry(Emission& e, Value* x, Value* y, bool subtracts, bool reads) {
  const Id::ID id = subtracts ? Id::usub_with_overflow : Id::uadd_with_overflow;
  Value* pair = e.b.CreateBinaryIntrinsic(id, x, y);
  Value* sum = e.b.CreateExtractValue(pair, 0);
  Value* carry = e.b.CreateExtractValue(pair, 1);
  if (reads) {
    Value* flag = e.b.CreateLoad(e.b.getInt1Ty(), e.carry_slot());
    pair = e.b.CreateBinaryIntrinsic(id, sum, e.b.CreateZExt(flag, x->getType()));
    sum = e.b.CreateExtractValue(pair, 0);
    carry = e.b.CreateOr(carry, e.b.CreateExtractValue(pair, 1));
  }
  if (e.has(Modifier::Cc)) e.b.CreateStore(carry, e.carry_slot());
  return sum;
}

Value* extend(Emission& e, Value* value, llvm::Type* to) {
  return is_signed(e.type()) ? e.b.CreateSExt(value, to) : e.b.CreateZExt(value, to);
}

/// The product of sources 1 and 2 by .lo, .hi or .wide.
Value* product(Emission& e) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  if (e.has(Modifier::Lo)) return e.b.CreateMul(x, y);
  const unsigned width = x->getType()->getIntegerBitWidth();
  llvm::Type* twice = e.b.getIntNTy(width * 2);
  Value* whole = e.b.CreateMul(extend(e, x, twice), extend(e, y, twice));
  return e.has(Modifier::Wide) ? whole : e.b.CreateTrunc(e.b.CreateLShr(whole, width), x->getType());
}

}  // namespace

void integer_add(Emission& e) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  const bool subtracts = e.opcode().starts_with("sub"), reads = e.opcode().ends_with("c");
  if (e.has(Modifier::Sat)) return e.write(0, e.b.CreateBinaryIntrinsic(subtracts ? Id::ssub_sat : Id::sadd_sat, x, y));
  if (reads || e.has(Modifier::Cc)) return e.write(0, with_carry(e, x, y, subtracts, reads));
  e.write(0, subtracts ? e.b.CreateSub(x, y) : e.b.CreateAdd(x, y));
}

void integer_multiply(Emission& e) {
  e.write(0, product(e));
}

void integer_multiply_add(Emission& e) {
  Value* left = product(e);
  Value* right = e.read(3);
  const bool reads = e.opcode() == "madc";
  if (e.has(Modifier::Sat)) return e.write(0, e.b.CreateBinaryIntrinsic(Id::sadd_sat, left, right));
  if (reads || e.has(Modifier::Cc)) return e.write(0, with_carry(e, left, right, false, reads));
  e.write(0, e.b.CreateAdd(left, right));
}

/// mul24 and mad24: the low or high 32 of the 48 bits that two numbers of 24 bits make.
void multiply_24(Emission& e) {
  const auto low_24 = [&](size_t operand) {
    Value* narrow = e.b.CreateTrunc(e.read(operand), e.b.getIntNTy(24));
    return extend(e, narrow, e.b.getInt64Ty());
  };
  Value* whole = e.b.CreateMul(low_24(1), low_24(2));
  if (e.has(Modifier::Hi)) whole = e.b.CreateLShr(whole, 16);
  Value* result = e.b.CreateTrunc(whole, e.b.getInt32Ty());
  if (e.opcode() == "mul24") return e.write(0, result);
  Value* right = e.read(3);
  e.write(0,
          e.has(Modifier::Sat) ? e.b.CreateBinaryIntrinsic(Id::sadd_sat, result, right) : e.b.CreateAdd(result, right));
}

/// sad: c + |a - b|
void absolute_difference(Emission& e) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  Value* less = is_signed(e.type()) ? e.b.CreateICmpSLT(x, y) : e.b.CreateICmpULT(x, y);
  Value* difference = e.b.CreateSelect(less, e.b.CreateSub(y, x), e.b.CreateSub(x, y));
  e.write(0, e.b.CreateAdd(e.read(3), difference));
}

void integer_divide(Emission& e) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  if (e.opcode() == "rem") return e.write(0, is_signed(e.type()) ? e.b.CreateSRem(x, y) : e.b.CreateURem(x, y));
  e.write(0, is_signed(e.type()) ? e.b.CreateSDiv(x, y) : e.b.CreateUDiv(x, y));
}

void integer_absolute(Emission& e) {
  e.write(0, e.b.CreateBinaryIntrinsic(Id::abs, e.read(1), e.b.getFalse()));
}

void integer_negate(Emission& e) {
  e.write(0, e.b.CreateNeg(e.read(1)));
}

void integer_extreme(Emission& e) {
  const bool least = e.opcode() == "min";
  const bool by_sign = is_signed(e.type()) || e.type() == Type::S16x2;
  const Id::ID id = by_sign ? (least ? Id::smin : Id::smax) : (least ? Id::umin : Id::umax);
  Value* result = e.b.CreateBinaryIntrinsic(id, e.read(1), e.read(2));
  if (e.has(Modifier::Relu))
    result = e.b.CreateBinaryIntrinsic(Id::smax, result, llvm::Constant::getNullValue(result->getType()));
  e.write(0, result);
}

/// dp4a: four products of bytes; dp2a: two of a 16-bit half and a byte of b's lower or upper half.
void dot_product(Emission& e) {
  const bool left = is_signed(e.type(0)), right = is_signed(e.type(1));
  Value* a = e.read(1);
  Value* b = e.read(2);
  Value* c = e.read(3);
  if (e.opcode() == "dp4a") {
    const Id::ID id =
        left ? (right ? Id::nvvm_idp4a_s_s : Id::nvvm_idp4a_s_u) : (right ? Id::nvvm_idp4a_u_s : Id::nvvm_idp4a_u_u);
    return e.write(0, e.call(id, {a, b, c}));
  }
  const Id::ID id =
      left ? (right ? Id::nvvm_idp2a_s_s : Id::nvvm_idp2a_s_u) : (right ? Id::nvvm_idp2a_u_s : Id::nvvm_idp2a_u_u);
  e.write(0, e.call(id, {a, b, e.b.getInt1(e.has(Modifier::Hi)), c}));
}

}  // namespace cupola::ptx::emit
