#include "kir/dot_product.h"
#include "kir/expansion.h"

namespace cupola::kir {
namespace {

using llvm::Value;

/// Clamps an amount to 0..32 (.clamp) or takes it modulo 32 (.wrap).
Value* amount(const Expansion& e, Value* value) {
  if (e.has("wrap")) return e.b.CreateAnd(value, 31);
  return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, value, e.b.getInt32(32));
}

/// Shifts by 0 to 32 in 64 bits, so that 32 is no special case.
Value* wide(const Expansion& e, Value* value) {
  return e.b.CreateZExt(value, e.b.getInt64Ty());
}
Value* low(const Expansion& e, Value* value) {
  return e.b.CreateTrunc(value, e.b.getInt32Ty());
}

/// mulhi.{s,us,i,ui,ll,ull}
Expanded multiply_high(const Expansion& e) {
  const unsigned width = e.type()->getIntegerBitWidth();
  const bool is_signed = !e.words[1].starts_with("u");
  llvm::Type* twice = e.b.getIntNTy(2 * width);
  const auto extend = [&](Value* x) { return is_signed ? e.b.CreateSExt(x, twice) : e.b.CreateZExt(x, twice); };
  return e.b.CreateTrunc(e.b.CreateLShr(e.b.CreateMul(extend(e.arg(0)), extend(e.arg(1))), width), e.type());
}

/// mul24.{i,ui}: the low 32 bits of the product of the low 24 bits.
Expanded multiply_24(const Expansion& e) {
  const auto narrow = [&](Value* x) {
    Value* top = e.b.CreateShl(x, 8);
    return e.words[1] == "i" ? e.b.CreateAShr(top, 8) : e.b.CreateLShr(top, 8);
  };
  return e.b.CreateMul(narrow(e.arg(0)), narrow(e.arg(1)));
}

/// sad.{s,us,i,ui,ll,ull}: |a - b| + c
Expanded absolute_difference(const Expansion& e) {
  const bool is_unsigned = e.words[1].starts_with("u");
  Value* less = is_unsigned ? e.b.CreateICmpULT(e.arg(0), e.arg(1)) : e.b.CreateICmpSLT(e.arg(0), e.arg(1));
  Value* difference = e.b.CreateSelect(less, e.b.CreateSub(e.arg(1), e.arg(0)), e.b.CreateSub(e.arg(0), e.arg(1)));
  return e.b.CreateAdd(difference, e.arg(2));
}

/// Byte `index` (0 to 7, a value) of the eight bytes.
Value* byte_of(const Expansion& e, Value* eight, Value* index) {
  Value* shift = e.b.CreateShl(wide(e, e.b.CreateAnd(index, 7)), 3);
  return e.b.CreateAnd(low(e, e.b.CreateLShr(eight, shift)), 0xff);
}

/// Which byte mode `mode` picks for place `place` when the low two bits of the selector are `s`. PTX ISA, "prmt".
Value* pick(const Expansion& e, llvm::StringRef mode, unsigned place, Value* s) {
  const auto constant = [&](uint32_t value) { return e.b.getInt32(value); };
  if (mode == "f4e") return e.b.CreateAdd(s, constant(place));
  if (mode == "b4e") return e.b.CreateSub(s, constant(place));
  if (mode == "rc8") return s;
  if (mode == "ecl") return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, s, constant(place));
  if (mode == "ecr") return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, s, constant(place));
  return e.b.CreateAdd(e.b.CreateShl(e.b.CreateAnd(s, 1), 1), constant(place & 1));  // rc16
}

/// prmt(a, b, selector) and prmt.MODE: f4e and b4e take a and b, the others a alone.
Expanded permute(const Expansion& e) {
  const bool general = e.words.size() == 1;
  const bool two = e.call.arg_size() == 3;
  Value* second = two ? e.arg(1) : e.b.getInt32(0);
  Value* selector = e.arg(two ? 2 : 1);
  Value* eight = e.b.CreateOr(e.b.CreateShl(wide(e, second), 32), wide(e, e.arg(0)));
  Value* result = e.b.getInt32(0);
  for (unsigned place = 0; place < 4; ++place) {
    Value* s = general ? e.b.CreateLShr(selector, 4 * place) : e.b.CreateAnd(selector, 3);
    Value* byte = byte_of(e, eight, general ? s : pick(e, e.words[1], place, s));
    if (general) {  // bit 3 of the selector: the byte's sign in all bits
      Value* sign = e.b.CreateSelect(e.b.CreateTrunc(e.b.CreateLShr(byte, 7), e.b.getInt1Ty()), e.b.getInt32(0xff),
                                     e.b.getInt32(0));
      byte = e.b.CreateSelect(e.b.CreateTrunc(e.b.CreateLShr(s, 3), e.b.getInt1Ty()), sign, byte);
    }
    result = e.b.CreateOr(result, e.b.CreateShl(byte, 8 * place));
  }
  return result;
}

/// flo.{s,u}: PTX's bfind. The place of the highest bit that differs from the sign; or (second operand true) how far
/// left it must be shifted; all ones when there is none.
Expanded find_leading(const Expansion& e) {
  Value* x = e.arg(0);
  llvm::Type* type = x->getType();
  const unsigned width = type->getIntegerBitWidth();
  if (e.words[1] == "s") x = e.b.CreateXor(x, e.b.CreateAShr(x, width - 1));
  Value* zeros = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, x, e.b.getFalse());
  Value* distance = e.b.CreateZExtOrTrunc(zeros, e.type());
  Value* place = e.b.CreateSub(e.b.getIntN(e.type()->getIntegerBitWidth(), width - 1), distance);
  Value* found = e.b.CreateSelect(e.arg(1), distance, place);
  return e.b.CreateSelect(e.b.CreateIsNull(x), llvm::Constant::getAllOnesValue(e.type()), found);
}

/// bmsk(position, width)
Expanded bit_mask(const Expansion& e) {
  Value* one = e.b.getInt64(1);
  Value* bits = e.b.CreateSub(e.b.CreateShl(one, wide(e, amount(e, e.arg(1)))), one);
  return low(e, e.b.CreateShl(bits, wide(e, amount(e, e.arg(0)))));
}

/// {s,z}ext.{clamp,wrap}(value, width): extends from the low bits.
Expanded extend_bits(const Expansion& e) {
  Value* spare = wide(e, e.b.CreateSub(e.b.getInt32(32), amount(e, e.arg(1))));
  if (e.words[0] == "zext") {
    Value* top = e.b.CreateAnd(e.b.CreateShl(wide(e, e.arg(0)), spare), 0xffffffffu);
    return low(e, e.b.CreateLShr(top, spare));
  }
  Value* top = e.b.CreateShl(wide(e, e.arg(0)), spare);
  Value* filled = e.b.CreateAShr(e.b.CreateShl(top, 32), 32);
  return low(e, e.b.CreateAShr(filled, spare));
}

/// fshl.clamp(high, low, n), fshr.clamp: funnel shifts by 0 to 32.
Expanded funnel(const Expansion& e) {
  Value* both = e.b.CreateOr(e.b.CreateShl(wide(e, e.arg(0)), 32), wide(e, e.arg(1)));
  Value* n = wide(e, e.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, e.arg(2), e.b.getInt32(32)));
  if (e.words[0] == "fshr") return low(e, e.b.CreateLShr(both, n));
  return low(e, e.b.CreateLShr(e.b.CreateShl(both, n), 32));
}

/// idp4a.A.B(a, b, c); idp2a.A.B(a, b, high, c): of b's lower or upper half.
Expanded dot_product(const Expansion& e) {
  const DotProduct product = {
      .of_bytes = e.words[0] == "idp4a", .left_signed = e.words[1] == "s", .right_signed = e.words[2] == "s"};
  Value *left = e.arg(0), *right = e.arg(1), *sum = e.arg(product.of_bytes ? 2 : 3);
  if (!product.of_bytes && llvm::cast<llvm::ConstantInt>(e.arg(2))->isOne()) right = e.b.CreateLShr(right, 16);
  if (llvm::all_of(llvm::ArrayRef({left, right, sum}), llvm::IsaPred<llvm::Constant>))
    return add_products(e.b, product, left, right, sum);
  return e.intrinsic(product.of_bytes ? Intrinsic::Dot4 : Intrinsic::Dot2,
                     {e.b.getInt32(kind_of(product)), left, right, sum});
}

Expanded same(const Expansion& e) {
  return e.arg(0);
}

constexpr ExpansionRow kRows[] = {
    {"mulhi", multiply_high}, {"mul24", multiply_24}, {"sad", absolute_difference}, {"prmt", permute},
    {"flo", find_leading},    {"bmsk", bit_mask},     {"sext", extend_bits},        {"zext", extend_bits},
    {"fshl", funnel},         {"fshr", funnel},       {"idp4a", dot_product},       {"idp2a", dot_product},
    {"move", same},
};

}  // namespace

llvm::ArrayRef<ExpansionRow> bit_expansions() {
  return kRows;
}

}  // namespace cupola::kir
