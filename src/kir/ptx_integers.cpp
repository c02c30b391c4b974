#include "kir/ptx_emission.h"

namespace cupola::kir::ptx {
namespace {

/// Sum or difference with CC: .cc writes the carry (for sub: the borrow), addc and subc read it.
bool with_carry(const Emission& e, bool subtracts, bool reads) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  if (!x || !y || !x->getType()->isIntegerTy()) return false;
  const unsigned width = x->getType()->getIntegerBitWidth();
  llvm::Type* wide = e.b.getIntNTy(width * 2);
  Value* carry = reads ? e.b.CreateZExt(e.registers.read_carry(), wide) : llvm::ConstantInt::get(wide, 0);
  Value* left = e.b.CreateZExt(x, wide);
  Value* right = e.b.CreateAdd(e.b.CreateZExt(y, wide), carry);
  Value* sum = subtracts ? e.b.CreateSub(left, right) : e.b.CreateAdd(left, right);
  if (e.has("cc")) e.registers.write_carry(e.b.CreateTrunc(e.b.CreateLShr(sum, width), e.b.getInt1Ty()));
  return e.write(e.b.CreateTrunc(sum, x->getType()));
}

bool add_or_subtract(const Emission& e) {
  const bool subtracts = e.word(0).starts_with("sub");
  if (e.has("sat") || e.has("ftz") || e.has("rz") || e.has("rm") || e.has("rp")) return false;
  if (e.word(0).ends_with("c") || e.has("cc")) return with_carry(e, subtracts, e.word(0).ends_with("c"));
  return binary(e, [&](Value* x, Value* y) {
    if (e.is_float()) return subtracts ? e.b.CreateFSub(x, y) : e.b.CreateFAdd(x, y);
    return subtracts ? e.b.CreateSub(x, y) : e.b.CreateAdd(x, y);
  });
}

/// The product of sources 1 and 2 by .lo, .hi or .wide.
Value* product(const Emission& e) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  if (!x || !y || !x->getType()->isIntegerTy()) return nullptr;
  const unsigned width = x->getType()->getIntegerBitWidth();
  llvm::Type* wide = e.b.getIntNTy(width * 2);
  const auto extend = [&](Value* v) { return e.is_signed() ? e.b.CreateSExt(v, wide) : e.b.CreateZExt(v, wide); };
  Value* whole = e.b.CreateMul(extend(x), extend(y));
  if (e.has("wide")) return whole;
  if (e.has("hi")) return e.b.CreateTrunc(e.b.CreateLShr(whole, width), x->getType());
  return e.has("lo") ? e.b.CreateTrunc(whole, x->getType()) : nullptr;
}

bool multiply(const Emission& e) {
  if (!e.is_float()) return e.write(product(e));
  if (e.has("ftz") || e.has("sat") || e.has("rz") || e.has("rm") || e.has("rp")) return false;
  return binary(e, [&](Value* x, Value* y) { return e.b.CreateFMul(x, y); });
}

/// mad.{lo,hi,wide}[.cc], madc
bool multiply_add(const Emission& e) {
  if (e.is_float() || e.has("sat")) return false;
  Value* left = product(e);
  Value* right = left ? e.read(3, left->getType()) : nullptr;
  if (!right) return false;
  const bool reads = e.word(0) == "madc";
  if (!reads && !e.has("cc")) return e.write(e.b.CreateAdd(left, right));
  if (e.has("wide")) return false;
  const unsigned width = left->getType()->getIntegerBitWidth();
  llvm::Type* wide = e.b.getIntNTy(width * 2);
  Value* sum = e.b.CreateAdd(e.b.CreateZExt(left, wide), e.b.CreateZExt(right, wide));
  if (reads) sum = e.b.CreateAdd(sum, e.b.CreateZExt(e.registers.read_carry(), wide));
  if (e.has("cc")) e.registers.write_carry(e.b.CreateTrunc(e.b.CreateLShr(sum, width), e.b.getInt1Ty()));
  return e.write(e.b.CreateTrunc(sum, left->getType()));
}

bool divide(const Emission& e) {
  if (e.is_float() || !e.type()) return false;
  const bool remainder = e.word(0) == "rem";
  return binary(e, [&](Value* x, Value* y) {
    if (remainder) return e.is_signed() ? e.b.CreateSRem(x, y) : e.b.CreateURem(x, y);
    return e.is_signed() ? e.b.CreateSDiv(x, y) : e.b.CreateUDiv(x, y);
  });
}

bool least_or_most(const Emission& e) {
  const bool least = e.word(0) == "min";
  if (e.has("ftz") || e.has("xorsign") || e.has("NaN")) return false;
  const Id::ID id = e.is_float()    ? (least ? Id::minimumnum : Id::maximumnum)
                    : e.is_signed() ? (least ? Id::smin : Id::smax)
                                    : (least ? Id::umin : Id::umax);
  return binary(e, [&](Value* x, Value* y) { return e.b.CreateBinaryIntrinsic(id, x, y); });
}

bool negate_or_abs(const Emission& e) {
  Value* x = e.read(1);
  if (!x || e.has("ftz")) return false;
  if (e.word(0) == "neg") return e.write(e.is_float() ? e.b.CreateFNeg(x) : e.b.CreateNeg(x));
  return e.write(e.is_float() ? e.b.CreateUnaryIntrinsic(Id::fabs, x)
                              : e.b.CreateBinaryIntrinsic(Id::abs, x, e.b.getFalse()));
}

bool bitwise(const Emission& e) {
  return binary(e, [&](Value* x, Value* y) {
    return e.word(0) == "and" ? e.b.CreateAnd(x, y) : e.word(0) == "or" ? e.b.CreateOr(x, y) : e.b.CreateXor(x, y);
  });
}
bool bitwise_not(const Emission& e) {
  Value* x = e.read(1);
  return x && e.write(e.b.CreateNot(x));
}

bool shift(const Emission& e) {
  Value* x = e.read(1);
  Value* amount = e.word32(2);
  if (!x || !amount || !x->getType()->isIntegerTy()) return false;
  if (x->getType()->getIntegerBitWidth() < 32)
    amount = e.b.CreateBinaryIntrinsic(Id::umin, amount, e.b.getInt32(x->getType()->getIntegerBitWidth()));
  amount = e.b.CreateZExtOrTrunc(amount, x->getType());
  if (e.word(0) == "shl") return e.write(e.b.CreateShl(x, amount));
  return e.write(e.is_signed() ? e.b.CreateAShr(x, amount) : e.b.CreateLShr(x, amount));
}

/// shf.{l,r}.{wrap,clamp}.b32 d, low, high, amount
bool funnel(const Emission& e) {
  Value* low = e.word32(1);
  Value* high = e.word32(2);
  Value* amount = e.word32(3);
  const bool left = e.word(1) == "l";
  if (e.has("wrap")) return e.call(left ? Id::fshl : Id::fshr, {high, low, amount}, {e.b.getInt32Ty()});
  return e.call(left ? Id::nvvm_fshl_clamp : Id::nvvm_fshr_clamp, {high, low, amount}, {e.b.getInt32Ty()});
}

/// bfe: `length` bits from `position`, extended by zeros or by the highest bit of the field (of the word where it
/// reaches beyond).
bool extract(const Emission& e) {
  Value* x = e.read(1);
  Value* position = e.word32(2);
  Value* length = e.word32(3);
  if (!x || !position || !length || !x->getType()->isIntegerTy()) return false;
  llvm::Type* type = x->getType();
  const unsigned width = type->getIntegerBitWidth();
  const auto clamp = [&](Value* v) {
    v = e.b.CreateZExt(e.b.CreateAnd(v, 255), e.b.getInt64Ty());
    return e.b.CreateBinaryIntrinsic(Id::umin, v, e.b.getInt64(width));
  };
  llvm::Type* wide = e.b.getIntNTy(2 * width);  // so that no shift reaches its width
  Value* from = e.b.CreateZExtOrTrunc(clamp(position), wide);
  Value* spare = e.b.CreateZExtOrTrunc(e.b.CreateSub(e.b.getInt64(width), clamp(length)), wide);
  Value* extended = e.is_signed() ? e.b.CreateSExt(x, wide) : e.b.CreateZExt(x, wide);
  Value* field = e.b.CreateShl(
      e.b.CreateTrunc(e.is_signed() ? e.b.CreateAShr(extended, from) : e.b.CreateLShr(extended, from), type),
      e.b.CreateTrunc(spare, type));
  Value* result = e.is_signed() ? e.b.CreateAShr(field, e.b.CreateTrunc(spare, type))
                                : e.b.CreateLShr(field, e.b.CreateTrunc(spare, type));
  Value* empty = e.b.CreateIsNull(e.b.CreateAnd(length, 255));
  return e.write(e.b.CreateSelect(empty, llvm::ConstantInt::get(type, 0), result));
}

/// bfi d, a, b, position, length: the low bits of a into b.
bool insert(const Emission& e) {
  Value* field = e.read(1);
  Value* into = e.read(2);
  Value* position = e.word32(3);
  Value* length = e.word32(4);
  if (!field || !into || !position || !length) return false;
  llvm::Type* type = field->getType();
  const auto amount = [&](Value* v) { return e.b.CreateZExtOrTrunc(e.b.CreateAnd(v, 255), type); };
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* low_bits = e.b.CreateSub(e.b.CreateShl(one, amount(length)), one);  // guards make 1 << 32 a 0
  Value* mask = e.b.CreateShl(low_bits, amount(position));
  Value* moved = e.b.CreateAnd(e.b.CreateShl(field, amount(position)), mask);
  return e.write(e.b.CreateOr(moved, e.b.CreateAnd(into, e.b.CreateNot(mask))));
}

bool count_bits(const Emission& e) {
  Value* x = e.read(1);
  if (!x) return false;
  Value* count = e.word(0) == "popc" ? e.b.CreateUnaryIntrinsic(Id::ctpop, x)
                                     : e.b.CreateBinaryIntrinsic(Id::ctlz, x, e.b.getFalse());
  return e.write(e.b.CreateZExtOrTrunc(count, e.b.getInt32Ty()));
}
bool reverse(const Emission& e) {
  Value* x = e.read(1);
  return x && e.write(e.b.CreateUnaryIntrinsic(Id::bitreverse, x));
}
bool find_leading(const Emission& e) {
  Value* x = e.read(1);
  return x &&
         e.call(e.is_signed() ? Id::nvvm_flo_s : Id::nvvm_flo_u, {x, e.b.getInt1(e.has("shiftamt"))}, {x->getType()});
}

bool permute(const Emission& e) {
  return e.last() == "b32" && e.statement.words.size() == 2 &&
         e.call(Id::nvvm_prmt, {e.word32(1), e.word32(2), e.word32(3)});
}

/// lop3.b32 d, a, b, c, table: each bit of the table says the result for one combination of bits.
bool logic3(const Emission& e) {
  Value* source[3] = {e.word32(1), e.word32(2), e.word32(3)};
  auto* table = llvm::dyn_cast_or_null<llvm::ConstantInt>(e.word32(4));
  if (!source[0] || !source[1] || !source[2] || !table) return false;
  Value* result = e.b.getInt32(0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table->getZExtValue() >> row & 1)) continue;
    Value* term = e.b.getInt32(~0u);
    for (unsigned i = 0; i < 3; ++i)
      term = e.b.CreateAnd(term, row >> (2 - i) & 1 ? source[i] : e.b.CreateNot(source[i]));
    result = e.b.CreateOr(result, term);
  }
  return e.write(result);
}

bool dot(const Emission& e) {
  if (e.statement.words.size() != 3) return false;
  const bool s = e.word(1) == "s32", t = e.word(2) == "s32";
  return e.call(s ? (t ? Id::nvvm_idp4a_s_s : Id::nvvm_idp4a_s_u) : (t ? Id::nvvm_idp4a_u_s : Id::nvvm_idp4a_u_u),
                {e.word32(1), e.word32(2), e.word32(3)});
}

constexpr Row kRows[] = {
    {"add", add_or_subtract, true},
    {"sub", add_or_subtract, true},
    {"addc", add_or_subtract, false},
    {"subc", add_or_subtract, false},
    {"mul", multiply, true},
    {"mad", multiply_add, true},
    {"madc", multiply_add, false},
    {"div", divide, true},
    {"rem", divide, true},
    {"min", least_or_most, true},
    {"max", least_or_most, true},
    {"abs", negate_or_abs, true},
    {"neg", negate_or_abs, true},
    {"and", bitwise, true},
    {"or", bitwise, true},
    {"xor", bitwise, true},
    {"not", bitwise_not, true},
    {"shl", shift, true},
    {"shr", shift, true},
    {"shf", funnel, true},
    {"bfe", extract, true},
    {"bfi", insert, true},
    {"bfind", find_leading, true},
    {"brev", reverse, true},
    {"clz", count_bits, true},
    {"popc", count_bits, true},
    {"prmt", permute, true},
    {"lop3", logic3, true},
    {"dp4a", dot, true},
};

}  // namespace

llvm::ArrayRef<Row> integer_rows() {
  return kRows;
}

}  // namespace cupola::kir::ptx
