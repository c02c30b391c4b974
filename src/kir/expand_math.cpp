#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>

#include "kir/expansion.h"
#include "kir/float_to_int.h"
#include "kir/kir.h"

namespace cupola::kir {

llvm::Value* flush(llvm::IRBuilderBase& b, llvm::Value* value) {
  llvm::Type* type = value->getType();
  if (!type->getScalarType()->isFloatTy()) return value;
  llvm::Value* size = b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, value);
  llvm::Value* denormal = b.CreateFCmpOLT(size, llvm::ConstantFP::get(type, 0x1p-126));
  llvm::Value* zero = b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, llvm::ConstantFP::get(type, 0.0), value);
  return b.CreateSelect(denormal, zero, value);
}

namespace {

using llvm::Value;

Value* in(const Expansion& e, unsigned i) {
  return e.has("ftz") ? flush(e.b, e.arg(i)) : e.arg(i);
}

/// Clamps to [0, 1]; NaN and -0 give +0.
Value* saturated(const Expansion& e, Value* value) {
  Value* positive =
      e.b.CreateBinaryIntrinsic(llvm::Intrinsic::maximumnum, value, llvm::ConstantFP::get(value->getType(), 0.0));
  return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::minimumnum, positive, llvm::ConstantFP::get(value->getType(), 1.0));
}

/// Negative values give 0; NaN stays NaN.
Value* relu(const Expansion& e, Value* value) {
  return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::maximum, value, llvm::ConstantFP::get(value->getType(), 0.0));
}

Value* out(const Expansion& e, Value* value) {
  if (e.has("ftz")) value = flush(e.b, value);
  if (e.has("relu")) value = relu(e, value);
  return e.has("sat") ? saturated(e, value) : value;
}

/// Directed rounding became a library call before linking (call_rounding.cpp); what is left has no library function.
bool directed(const Expansion& e) {
  return e.has("rz") || e.has("rm") || e.has("rp");
}

Value* one(const Expansion& e) {
  return llvm::ConstantFP::get(e.type(), 1.0);
}
Value* root(const Expansion& e, Value* x) {
  return e.b.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
}

Expanded add(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, e.b.CreateFAdd(in(e, 0), in(e, 1)));
}
Expanded mul(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, e.b.CreateFMul(in(e, 0), in(e, 1)));
}
Value* as_it_says(const Expansion& e, Value* value) {
  return e.has("approx") || e.has("full") ? let_approximate(value) : value;
}
Expanded div(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, as_it_says(e, e.b.CreateFDiv(in(e, 0), in(e, 1))));
}
Expanded fma(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, e.b.CreateIntrinsic(llvm::Intrinsic::fma, {e.type()}, {in(e, 0), in(e, 1), in(e, 2)}));
}
Expanded rcp(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, as_it_says(e, e.b.CreateFDiv(one(e), in(e, 0))));
}
Expanded sqrt(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, as_it_says(e, root(e, in(e, 0))));
}
Expanded rsqrt(const Expansion& e) {
  Value* square_root = as_it_says(e, root(e, in(e, 0)));
  return out(e, as_it_says(e, e.b.CreateFDiv(one(e), square_root)));
}

template <llvm::Intrinsic::ID Id>
Expanded unary(const Expansion& e) {
  return out(e, e.b.CreateUnaryIntrinsic(Id, in(e, 0)));
}

Expanded saturate(const Expansion& e) {
  return saturated(e, in(e, 0));
}
Expanded negate(const Expansion& e) {
  return e.b.CreateFNeg(e.arg(0));
}

/// fmin, fmax. PTX: a NaN operand loses unless .nan; -0 is less than +0. .xorsign.abs works on magnitudes and
/// multiplies signs.
Expanded least_or_most(const Expansion& e) {
  const bool least = e.words[0] == "fmin";
  Value* x = in(e, 0);
  Value* y = in(e, 1);
  if (!x->getType()->isFPOrFPVectorTy()) return {};  // bf16 as integers, of old modules
  const bool by_size = e.has("xorsign");
  Value* left = by_size ? e.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x) : x;
  Value* right = by_size ? e.b.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, y) : y;
  const llvm::Intrinsic::ID id = e.has("nan") ? (least ? llvm::Intrinsic::minimum : llvm::Intrinsic::maximum)
                                              : (least ? llvm::Intrinsic::minimumnum : llvm::Intrinsic::maximumnum);
  Value* result = e.b.CreateBinaryIntrinsic(id, left, right);
  if (!by_size) return out(e, result);
  llvm::Type* bits = e.b.getIntNTy(x->getType()->getPrimitiveSizeInBits());
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(x->getType())) bits = llvm::VectorType::getInteger(vector);
  Value* sign = e.b.CreateXor(e.b.CreateBitCast(x, bits), e.b.CreateBitCast(y, bits));
  return e.b.CreateBinaryIntrinsic(llvm::Intrinsic::copysign, result, e.b.CreateBitCast(sign, x->getType()));
}

/// f2i.rn, d2ull.rz and so on: round to an integer, then saturate.
Expanded to_integer(const Expansion& e) {
  llvm::StringRef target = e.words[0].drop_front(2);  // after "f2" or "d2"
  const bool is_signed = !target.starts_with("u");
  const auto rounding = llvm::StringSwitch<std::optional<llvm::Intrinsic::ID>>(e.words.size() > 1 ? e.words[1] : "")
                            .Case("rn", llvm::Intrinsic::roundeven)
                            .Case("rz", llvm::Intrinsic::trunc)
                            .Case("rm", llvm::Intrinsic::floor)
                            .Case("rp", llvm::Intrinsic::ceil)
                            .Default(std::nullopt);
  if (!rounding) return {};
  return float_to_int(e.b, e.b.CreateUnaryIntrinsic(*rounding, in(e, 0)), e.type(), is_signed);
}

/// d2i.hi and d2i.lo: halves of a double; the rest converts.
Expanded double_to_int(const Expansion& e) {
  if (!e.has("hi") && !e.has("lo")) return to_integer(e);
  Value* bits = e.b.CreateBitCast(e.arg(0), e.b.getInt64Ty());
  return e.b.CreateTrunc(e.has("hi") ? e.b.CreateLShr(bits, 32) : bits, e.b.getInt32Ty());
}

/// lohi.i2d
Expanded from_halves(const Expansion& e) {
  Value* low = e.b.CreateZExt(e.arg(0), e.b.getInt64Ty());
  Value* high = e.b.CreateShl(e.b.CreateZExt(e.arg(1), e.b.getInt64Ty()), 32);
  return e.b.CreateBitCast(e.b.CreateOr(high, low), e.b.getDoubleTy());
}

/// i2d and ui2d are exact whatever the rounding; the others round to nearest here.
Expanded from_integer(const Expansion& e) {
  const bool exact = e.words[0] == "i2d" || e.words[0] == "ui2d";
  if (directed(e) && !exact) return {};
  return e.words[0].starts_with("u") ? e.b.CreateUIToFP(e.arg(0), e.type()) : e.b.CreateSIToFP(e.arg(0), e.type());
}

Expanded narrow_double(const Expansion& e) {
  if (directed(e)) return {};
  return out(e, e.b.CreateFPTrunc(e.arg(0), e.type()));
}

/// f2h.rn, f2f16.rn, f2bf16.rn: to 16 bits, as a float type or as its bits.
Expanded narrow_float(const Expansion& e) {
  if (directed(e) || e.has("satfinite")) return {};
  llvm::Type* half = e.words[0] == "f2bf16" ? e.b.getBFloatTy() : e.b.getHalfTy();
  Value* value = e.b.CreateFPTrunc(in(e, 0), half);
  if (e.has("relu")) value = relu(e, value);
  return e.b.CreateBitCast(value, e.type());
}

/// ff2f16x2.rn, ff2bf16x2.rn: the first operand to the upper half.
Expanded narrow_pair(const Expansion& e) {
  if (directed(e) || e.has("satfinite") || e.has("rs") || !e.type()->isVectorTy()) return {};
  Value* pair = llvm::PoisonValue::get(e.type());
  for (unsigned i : {0u, 1u})
    pair = e.b.CreateInsertElement(pair, e.b.CreateFPTrunc(e.arg(1 - i), e.type()->getScalarType()), i);
  return e.has("relu") ? relu(e, pair) : pair;
}

constexpr ExpansionRow kRows[] = {
    {"add", add},
    {"mul", mul},
    {"div", div},
    {"fma", fma},
    {"rcp", rcp},
    {"sqrt", sqrt},
    {"rsqrt", rsqrt},
    {"sin", unary<llvm::Intrinsic::sin>},
    {"cos", unary<llvm::Intrinsic::cos>},
    {"ex2", unary<llvm::Intrinsic::exp2>},
    {"lg2", unary<llvm::Intrinsic::log2>},
    {"ceil", unary<llvm::Intrinsic::ceil>},
    {"floor", unary<llvm::Intrinsic::floor>},
    {"trunc", unary<llvm::Intrinsic::trunc>},
    {"round", unary<llvm::Intrinsic::roundeven>},
    {"fabs", unary<llvm::Intrinsic::fabs>},
    {"saturate", saturate},
    {"neg", negate},
    {"fmin", least_or_most},
    {"fmax", least_or_most},
    {"f2i", to_integer},
    {"f2ui", to_integer},
    {"f2ll", to_integer},
    {"f2ull", to_integer},
    {"d2i", double_to_int},
    {"d2ui", to_integer},
    {"d2ll", to_integer},
    {"d2ull", to_integer},
    {"lohi", from_halves},
    {"i2d", from_integer},
    {"ui2d", from_integer},
    {"ll2d", from_integer},
    {"ull2d", from_integer},
    {"i2f", from_integer},
    {"ui2f", from_integer},
    {"ll2f", from_integer},
    {"ull2f", from_integer},
    {"d2f", narrow_double},
    {"f2h", narrow_float},
    {"f2f16", narrow_float},
    {"f2bf16", narrow_float},
    {"ff2f16x2", narrow_pair},
    {"ff2bf16x2", narrow_pair},
};

}  // namespace

llvm::ArrayRef<ExpansionRow> math_expansions() {
  return kRows;
}

}  // namespace cupola::kir
