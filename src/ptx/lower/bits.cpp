#include "ptx/lower/emission.h"

// PTX ISA, "Logic and Shift Instructions", and the instructions on single bits of "Integer Arithmetic Instructions";
// prmt. Shifts of any amount have a meaning in kir, see kir/define_guards.cpp.

namespace cupola::ptx::emit {
namespace {

/// A 32-bit amount as the type of the value that is shifted by it; what is beyond 16 bits counts as 16.
Value* amount_for(Emission& e, Value* amount, llvm::Type* type) {
  const unsigned width = type->getIntegerBitWidth();
  if (width < 32) amount = e.b.CreateBinaryIntrinsic(Id::umin, amount, e.i32(width));
  return e.b.CreateZExtOrTrunc(amount, type);
}

/// A position or length: 32-bit instructions read its low byte. The 64-bit ones of real devices read all of it, which
/// the ISA leaves out.
Value* place_for(Emission& e, size_t operand, llvm::Type* type) {
  Value* place = e.read(operand);
  return type->isIntegerTy(32) ? e.b.CreateAnd(place, 0xff) : e.b.CreateZExt(place, type);
}

/// The bits of `table` as a function of the sources, the first of which splits the table into an upper and a lower
/// half.
Value* look_up(Emission& e, uint32_t table, llvm::ArrayRef<Value*> sources) {
  const unsigned rows = 1u << sources.size();
  const uint32_t all = (1u << rows) - 1;
  if ((table & all) == 0) return e.i32(0);
  if ((table & all) == all) return e.i32(~0u);
  const unsigned half = rows / 2;
  const uint32_t mask = (1u << half) - 1, low = table & mask, high = table >> half & mask;
  const auto rest = sources.drop_front();
  if (low == high) return look_up(e, low, rest);
  if (low == (~high & mask)) return e.b.CreateXor(sources[0], look_up(e, low, rest));
  Value* one = e.b.CreateAnd(sources[0], look_up(e, high, rest));
  return e.b.CreateOr(one, e.b.CreateAnd(e.b.CreateNot(sources[0]), look_up(e, low, rest)));
}

}  // namespace

void bitwise(Emission& e) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  if (e.opcode() == "and") return e.write(0, e.b.CreateAnd(x, y));
  if (e.opcode() == "or") return e.write(0, e.b.CreateOr(x, y));
  e.write(0, e.b.CreateXor(x, y));
}

void bitwise_not(Emission& e) {
  e.write(0, e.b.CreateNot(e.read(1)));
}

void logical_not(Emission& e) {
  Value* x = e.read(1);
  e.write(0, e.b.CreateZExt(e.b.CreateIsNull(x), x->getType()));
}

/// lop3: bit 4a + 2b + c of the constant is the result for those bits. "lop3.or.b32 d|p, a, b, c, table, q": p is
/// whether the result is not zero, or q.
void logic_3(Emission& e) {
  Value* result = look_up(e, static_cast<uint32_t>(e.constant(4)), {e.read(1), e.read(2), e.read(3)});
  if (!e.any(Modifier::And, Modifier::Or)) return e.write(0, result);
  Value* nonzero = e.b.CreateIsNotNull(result);
  Value* q = e.read(5);
  Value* p = e.has(Modifier::And) ? e.b.CreateAnd(nonzero, q) : e.b.CreateOr(nonzero, q);
  e.write(0, result);
  if (e.operand(0).kind == Operand::Kind::Pair) e.write(e.parts(e.operand(0))[1], p, Type::Pred);
}

void shift(Emission& e) {
  Value* x = e.read(1);
  Value* amount = amount_for(e, e.read(2), x->getType());
  if (e.opcode() == "shl") return e.write(0, e.b.CreateShl(x, amount));
  e.write(0, is_signed(e.type()) ? e.b.CreateAShr(x, amount) : e.b.CreateLShr(x, amount));
}

/// shf.{l,r}.{wrap,clamp}.b32 d, low, high, amount
void funnel_shift(Emission& e) {
  const bool left = e.has(Modifier::Left), wraps = e.has(Modifier::Wrap);
  Id::ID id = left ? Id::fshl : Id::fshr;
  if (!wraps) id = left ? Id::nvvm_fshl_clamp : Id::nvvm_fshr_clamp;
  e.write(0, e.call(id, {e.read(2), e.read(1), e.read(3)}, {e.b.getInt32Ty()}));
}

void permute(Emission& e) {
  struct Mode {
    Modifier modifier;
    Id::ID id;
    bool two_sources;
  };
  constexpr Mode kModes[] = {
      {Modifier::F4e, Id::nvvm_prmt_f4e, true},  {Modifier::B4e, Id::nvvm_prmt_b4e, true},
      {Modifier::Rc8, Id::nvvm_prmt_rc8, false}, {Modifier::Ecl, Id::nvvm_prmt_ecl, false},
      {Modifier::Ecr, Id::nvvm_prmt_ecr, false}, {Modifier::Rc16, Id::nvvm_prmt_rc16, false},
  };
  for (const Mode& mode : kModes) {
    if (!e.has(mode.modifier)) continue;
    if (mode.two_sources) return e.write(0, e.call(mode.id, {e.read(1), e.read(2), e.read(3)}));
    return e.write(0, e.call(mode.id, {e.read(1), e.read(3)}));
  }
  e.write(0, e.call(Id::nvvm_prmt, {e.read(1), e.read(2), e.read(3)}));
}

void count_ones(Emission& e) {
  Value* count = e.b.CreateUnaryIntrinsic(Id::ctpop, e.read(1, e.type()));
  e.write(0, e.b.CreateZExtOrTrunc(count, e.b.getInt32Ty()));
}

void count_leading_zeros(Emission& e) {
  Value* count = e.b.CreateBinaryIntrinsic(Id::ctlz, e.read(1), e.b.getFalse());
  e.write(0, e.b.CreateZExtOrTrunc(count, e.b.getInt32Ty()));
}

/// bfind: the place of the highest bit that differs from the sign, or how far left it must go; all ones without one.
void find_leading(Emission& e) {
  Value* x = e.read(1);
  const Id::ID id = is_signed(e.type()) ? Id::nvvm_flo_s : Id::nvvm_flo_u;
  e.write(0, e.call(id, {x, e.b.getInt1(e.has(Modifier::Shiftamt))}, {x->getType()}));
}

/// fns d, mask, base, n: the place of the n-th set bit from `base` up (n > 0) or down (n < 0); base itself where n is 0
/// and its bit is set; all ones where there is none.
void find_nth_set(Emission& e) {
  Value* mask = e.read(1);
  Value* base = e.read(2);
  Value* n = e.read(3);
  Value* down = e.b.CreateICmpSLT(n, e.i32(0));
  // Downwards is upwards in the reversed mask.
  Value* bits = e.b.CreateSelect(down, e.b.CreateUnaryIntrinsic(Id::bitreverse, mask), mask);
  Value* from = e.b.CreateSelect(down, e.b.CreateSub(e.i32(31), base), base);
  Value* window = e.b.CreateSelect(e.b.CreateIsNull(n), e.i32(1), e.i32(~0u));
  bits = e.b.CreateAnd(bits, e.b.CreateShl(window, from));
  Value* left = e.b.CreateBinaryIntrinsic(Id::umax, e.b.CreateBinaryIntrinsic(Id::abs, n, e.b.getFalse()), e.i32(1));
  Value* exists = e.b.CreateICmpULE(left, e.b.CreateUnaryIntrinsic(Id::ctpop, bits));
  // Halves that hold too few bits are skipped.
  Value* place = e.i32(0);
  for (unsigned width = 16; width != 0; width /= 2) {
    Value* half = e.b.CreateAnd(e.b.CreateLShr(bits, place), (1u << width) - 1);
    Value* count = e.b.CreateUnaryIntrinsic(Id::ctpop, half);
    Value* skip = e.b.CreateICmpUGT(left, count);
    left = e.b.CreateSelect(skip, e.b.CreateSub(left, count), left);
    place = e.b.CreateSelect(skip, e.b.CreateAdd(place, e.i32(width)), place);
  }
  place = e.b.CreateSelect(down, e.b.CreateSub(e.i32(31), place), place);
  e.write(0, e.b.CreateSelect(exists, place, e.i32(~0u)));
}

void reverse_bits(Emission& e) {
  e.write(0, e.b.CreateUnaryIntrinsic(Id::bitreverse, e.read(1)));
}

/// bfe: `length` bits from `position`, extended by zeros or by the highest bit of the field (of the word where it
/// reaches beyond).
void extract_bits(Emission& e) {
  Value* x = e.read(1);
  llvm::Type* type = x->getType();
  llvm::Constant* width = llvm::ConstantInt::get(type, type->getIntegerBitWidth());
  const auto right = [&](Value* value, Value* by) {
    return is_signed(e.type()) ? e.b.CreateAShr(value, by) : e.b.CreateLShr(value, by);
  };
  Value* length = e.b.CreateBinaryIntrinsic(Id::umin, place_for(e, 3, type), width);
  Value* spare = e.b.CreateSub(width, length);
  e.write(0, right(e.b.CreateShl(right(x, place_for(e, 2, type)), spare), spare));
}

/// bfi d, a, b, position, length: the low bits of a into b.
void insert_bits(Emission& e) {
  Value* field = e.read(1);
  llvm::Type* type = field->getType();
  Value* one = llvm::ConstantInt::get(type, 1);
  Value* position = place_for(e, 3, type);
  Value* low_bits = e.b.CreateSub(e.b.CreateShl(one, place_for(e, 4, type)), one);  // 1 << 32 is 0
  Value* mask = e.b.CreateShl(low_bits, position);
  Value* moved = e.b.CreateAnd(e.b.CreateShl(field, position), mask);
  e.write(0, e.b.CreateOr(moved, e.b.CreateAnd(e.read(2), e.b.CreateNot(mask))));
}

void extend_bits(Emission& e) {
  const bool wraps = e.has(Modifier::Wrap);
  const Id::ID id = is_signed(e.type()) ? (wraps ? Id::nvvm_sext_wrap : Id::nvvm_sext_clamp)
                                        : (wraps ? Id::nvvm_zext_wrap : Id::nvvm_zext_clamp);
  e.write(0, e.call(id, {e.read(1), e.read(2)}));
}

void bit_mask(Emission& e) {
  const Id::ID id = e.has(Modifier::Wrap) ? Id::nvvm_bmsk_wrap : Id::nvvm_bmsk_clamp;
  e.write(0, e.call(id, {e.read(1), e.read(2)}));
}

}  // namespace cupola::ptx::emit
