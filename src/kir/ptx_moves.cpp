#include "kir/ptx_emission.h"

namespace cupola::kir::ptx {
namespace {

/// mov, with packing "mov.b64 d, {lo, hi}" and unpacking "mov.b64 {lo, hi}, a".
bool move(const Emission& e) {
  if (e.count() != 2 || !e.type()) return false;
  const llvm::StringRef to = e.statement.operands[0], from = e.statement.operands[1];
  const unsigned width = e.type()->getPrimitiveSizeInBits();
  if (from.starts_with("{")) {
    const auto parts = parts_of(from);
    const unsigned each = width / parts.size();
    Value* whole = llvm::ConstantInt::get(e.b.getIntNTy(width), 0);
    for (size_t i = 0; i < parts.size(); ++i) {
      Value* part = e.registers.read(parts[i], e.b.getIntNTy(each));
      if (!part) return false;
      whole = e.b.CreateOr(whole, e.b.CreateShl(e.b.CreateZExt(part, whole->getType()), i * each));
    }
    return e.write(whole);
  }
  if (!to.starts_with("{")) return e.write(e.read(1));
  Value* whole = e.read(1, e.b.getIntNTy(width));
  if (!whole) return false;
  const auto parts = parts_of(to);
  const unsigned each = width / parts.size();
  for (size_t i = 0; i < parts.size(); ++i)
    e.registers.write(parts[i], e.b.CreateTrunc(e.b.CreateLShr(whole, i * each), e.b.getIntNTy(each)));
  return true;
}

/// cvt between integers, and between floats and integers rounding as .rzi or to nearest.
bool convert(const Emission& e) {
  if (e.statement.words.size() < 3 || e.has("sat") || e.has("ftz")) return false;
  const llvm::StringRef to = e.word(e.statement.words.size() - 2), from = e.last();
  llvm::Type* type = e.type_of(to);
  Value* value = e.read(1);
  if (!type || !value) return false;
  const bool to_float = to.starts_with("f"), from_float = from.starts_with("f");
  if (!to_float && !from_float)
    return e.write(from.starts_with("s") ? e.b.CreateSExtOrTrunc(value, type) : e.b.CreateZExtOrTrunc(value, type));
  if (to_float && from_float) {
    const bool narrows = type->getPrimitiveSizeInBits() < value->getType()->getPrimitiveSizeInBits();
    return (!narrows || e.has("rn")) && e.write(e.b.CreateFPCast(value, type));
  }
  if (to_float)
    return e.has("rn") &&
           e.write(from.starts_with("s") ? e.b.CreateSIToFP(value, type) : e.b.CreateUIToFP(value, type));
  const auto rounding = e.has("rni")   ? Id::roundeven
                        : e.has("rmi") ? Id::floor
                        : e.has("rpi") ? Id::ceil
                        : e.has("rzi") ? Id::trunc
                                       : Id::not_intrinsic;
  if (rounding == Id::not_intrinsic) return false;
  value = e.b.CreateUnaryIntrinsic(rounding, value);
  return e.write(to.starts_with("s") ? e.b.CreateFPToSI(value, type) : e.b.CreateFPToUI(value, type));
}

/// cvta[.to].SPACE.u64. Global and constant addresses are generic ones.
bool convert_address(const Emission& e) {
  Value* value = e.read(1);
  if (!value || !e.type()->isIntegerTy(64)) return false;
  if (e.has("global") || e.has("const")) return e.write(value);
  const unsigned space = space_of(e);
  if (space != 3) return false;
  llvm::Type* shared = e.b.getPtrTy(space);
  Value* pointer = e.has("to") ? e.b.CreateIntToPtr(value, e.b.getPtrTy()) : e.b.CreateIntToPtr(value, shared);
  Value* there = e.b.CreateAddrSpaceCast(pointer, e.has("to") ? shared : e.b.getPtrTy());
  return e.write(e.b.CreatePtrToInt(there, e.b.getInt64Ty()));
}

/// setp.CMP.type p, a, b
bool compare(const Emission& e) {
  if (e.statement.words.size() != 3 || e.statement.operands[0].find('|') != std::string::npos) return false;
  using P = llvm::CmpInst::Predicate;
  const bool s = e.is_signed();
  const auto predicate = e.is_float() ? llvm::StringSwitch<P>(e.word(1))
                                            .Case("eq", P::FCMP_OEQ)
                                            .Case("ne", P::FCMP_ONE)
                                            .Case("lt", P::FCMP_OLT)
                                            .Case("le", P::FCMP_OLE)
                                            .Case("gt", P::FCMP_OGT)
                                            .Case("ge", P::FCMP_OGE)
                                            .Case("equ", P::FCMP_UEQ)
                                            .Case("neu", P::FCMP_UNE)
                                            .Case("ltu", P::FCMP_ULT)
                                            .Case("leu", P::FCMP_ULE)
                                            .Case("gtu", P::FCMP_UGT)
                                            .Case("geu", P::FCMP_UGE)
                                            .Case("num", P::FCMP_ORD)
                                            .Case("nan", P::FCMP_UNO)
                                            .Default(P::BAD_FCMP_PREDICATE)
                                      : llvm::StringSwitch<P>(e.word(1))
                                            .Case("eq", P::ICMP_EQ)
                                            .Case("ne", P::ICMP_NE)
                                            .Case("lt", s ? P::ICMP_SLT : P::ICMP_ULT)
                                            .Case("le", s ? P::ICMP_SLE : P::ICMP_ULE)
                                            .Case("gt", s ? P::ICMP_SGT : P::ICMP_UGT)
                                            .Case("ge", s ? P::ICMP_SGE : P::ICMP_UGE)
                                            .Case("lo", P::ICMP_ULT)
                                            .Case("ls", P::ICMP_ULE)
                                            .Case("hi", P::ICMP_UGT)
                                            .Case("hs", P::ICMP_UGE)
                                            .Default(P::BAD_FCMP_PREDICATE);
  if (predicate == P::BAD_FCMP_PREDICATE) return false;
  return binary(e, [&](Value* x, Value* y) { return e.b.CreateCmp(predicate, x, y); });
}
bool select(const Emission& e) {
  Value* p = e.read(3, e.b.getInt1Ty());
  return p && binary(e, [&](Value* x, Value* y) { return e.b.CreateSelect(p, x, y); });
}

bool fused(const Emission& e) {
  Value* x = e.read(1);
  if (!e.has("rn") || e.statement.words.size() != 3 || !x) return false;
  return e.call(Id::fma, {x, e.read(2), e.read(3)}, {x->getType()});
}

/// ex2, lg2, sin, cos, sqrt, rcp, rsqrt: .approx may be more accurate; .rn is exact.
bool transcendental(const Emission& e) {
  Value* x = e.read(1);
  if (!x || e.statement.words.size() != (e.has("ftz") ? 4u : 3u) || e.has("rz") || e.has("rm") || e.has("rp"))
    return false;
  if (e.has("ftz") && e.word(0) != "ex2" && e.word(0) != "lg2") return false;
  if (e.has("ftz"))  // the intrinsics flush
    return e.word(0) == "ex2" ? e.call(Id::nvvm_ex2_approx_ftz, {x}, {x->getType()})
                              : e.call(Id::nvvm_lg2_approx_ftz_f, {x});
  const auto id = llvm::StringSwitch<Id::ID>(e.word(0))
                      .Case("ex2", Id::exp2)
                      .Case("lg2", Id::log2)
                      .Case("sin", Id::sin)
                      .Case("cos", Id::cos)
                      .Case("tanh", Id::tanh)
                      .Default(Id::sqrt);
  if (e.word(0) == "rcp") return e.write(e.b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), x));
  Value* y = e.b.CreateUnaryIntrinsic(id, x);
  return e.write(e.word(0) == "rsqrt" ? e.b.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1), y) : y);
}

constexpr Row kRows[] = {
    {"mov", move, true},           {"cvt", convert, true},          {"cvta", convert_address, true},
    {"setp", compare, true},       {"selp", select, true},          {"fma", fused, true},
    {"rcp", transcendental, true}, {"rsqrt", transcendental, true}, {"sqrt", transcendental, true},
    {"ex2", transcendental, true}, {"lg2", transcendental, true},   {"sin", transcendental, true},
    {"cos", transcendental, true}, {"tanh", transcendental, true},
};

}  // namespace

llvm::ArrayRef<Row> move_rows() {
  return kRows;
}

}  // namespace cupola::kir::ptx
