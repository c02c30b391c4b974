#include "kir/ptx_instructions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

namespace cupola::kir {
namespace {

using llvm::Value;
namespace Id = llvm::Intrinsic;

/// One instruction being emitted. PTX ISA, chapter "Instruction Set".
struct Emission {
  const PtxStatement& statement;
  PtxRegisters& registers;
  llvm::IRBuilder<>& b = registers.b;

  size_t count() const { return statement.operands.size(); }
  bool has(llvm::StringRef word) const {
    return llvm::any_of(statement.words, [&](const std::string& w) { return w == word; });
  }
  llvm::StringRef word(size_t i) const { return i < statement.words.size() ? statement.words[i] : llvm::StringRef(); }
  llvm::StringRef last() const { return statement.words.back(); }
  bool is_signed() const { return last().starts_with("s"); }
  bool is_float() const { return last().starts_with("f"); }

  /// "u32" and its kin; null for words that are no type.
  llvm::Type* type_of(llvm::StringRef word) const {
    if (word == "pred") return b.getInt1Ty();
    if (word == "f16") return b.getHalfTy();
    if (word == "f32") return b.getFloatTy();
    if (word == "f64") return b.getDoubleTy();
    unsigned width = 0;
    if (word.empty() || !llvm::StringRef("usb").contains(word[0]) || word.drop_front().getAsInteger(10, width))
      return nullptr;
    return width == 8 || width == 16 || width == 32 || width == 64 ? b.getIntNTy(width) : nullptr;
  }
  llvm::Type* type() const { return type_of(last()); }
  Value* read(size_t i, llvm::Type* as) const {
    return i < count() && as ? registers.read(statement.operands[i], as) : nullptr;
  }
  Value* read(size_t i) const { return read(i, type()); }
  Value* word32(size_t i) const { return read(i, b.getInt32Ty()); }
  bool write(Value* value, size_t i = 0) const {
    return value && i < count() && registers.write(statement.operands[i], value);
  }
  bool call(Id::ID id, llvm::ArrayRef<Value*> arguments, llvm::ArrayRef<llvm::Type*> overloads = {}) const {
    if (llvm::is_contained(arguments, nullptr)) return false;
    Value* result = b.CreateIntrinsic(id, overloads, arguments);
    return result->getType()->isVoidTy() || write(result);
  }
};

/// Reads sources 1 to N as the instruction's type and writes what `make` gives.
template <typename Make>
bool binary(const Emission& e, Make make) {
  Value* x = e.read(1);
  Value* y = e.read(2);
  return x && y && e.write(make(x, y));
}

/// "{a, b}" to its parts.
llvm::SmallVector<llvm::StringRef, 4> parts_of(llvm::StringRef operand) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  operand.trim().drop_front().drop_back().split(parts, ',');
  for (llvm::StringRef& part : parts) part = part.trim();
  return parts;
}

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

unsigned space_number(const Emission& e) {
  return e.has("shared") ? 3 : e.has("local") ? 5 : 0;
}

/// cvta[.to].SPACE.u64. Global and constant addresses are generic ones.
bool convert_address(const Emission& e) {
  Value* value = e.read(1);
  if (!value || !e.type()->isIntegerTy(64)) return false;
  if (e.has("global") || e.has("const")) return e.write(value);
  const unsigned space = space_number(e);
  if (space != 3) return false;
  llvm::Type* shared = e.b.getPtrTy(space);
  Value* pointer = e.has("to") ? e.b.CreateIntToPtr(value, e.b.getPtrTy()) : e.b.CreateIntToPtr(value, shared);
  Value* there = e.b.CreateAddrSpaceCast(pointer, e.has("to") ? shared : e.b.getPtrTy());
  return e.write(e.b.CreatePtrToInt(there, e.b.getInt64Ty()));
}

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

/// "[a+4]" as a pointer of the instruction's space.
Value* address(const Emission& e, size_t i) {
  if (i >= e.count()) return nullptr;
  llvm::StringRef text = e.statement.operands[i];
  if (!text.consume_front("[") || !text.consume_back("]")) return nullptr;
  const auto [base, offset] = text.split('+');
  Value* place = e.registers.read(base.trim(), e.b.getInt64Ty());
  if (!place) return nullptr;
  if (!offset.empty()) {
    Value* more = e.registers.read(offset.trim(), e.b.getInt64Ty());
    if (!more) return nullptr;
    place = e.b.CreateAdd(place, more);
  }
  return space_number(e) == 5 ? nullptr : e.b.CreateIntToPtr(place, e.b.getPtrTy(space_number(e)));
}

/// ld and st. Cache and eviction hints change no result; .relaxed and stronger become atomic.
bool access(const Emission& e) {
  const bool loads = e.word(0) == "ld" || e.word(0) == "ldu";
  llvm::Type* type = e.type();
  Value* pointer = address(e, loads ? 1 : 0);
  if (!type || !pointer || e.has("param")) return false;
  const llvm::StringRef operand = e.statement.operands[loads ? 0 : 1];
  llvm::SmallVector<llvm::StringRef, 4> parts{operand};
  if (operand.starts_with("{")) parts = parts_of(operand);
  const llvm::Align alignment(type->getPrimitiveSizeInBits() / 8);
  const auto ordering = e.has("acquire")   ? llvm::AtomicOrdering::Acquire
                        : e.has("release") ? llvm::AtomicOrdering::Release
                        : e.has("relaxed") ? llvm::AtomicOrdering::Monotonic
                                           : llvm::AtomicOrdering::NotAtomic;
  for (size_t i = 0; i < parts.size(); ++i) {
    Value* place = e.b.CreateConstGEP1_64(type, pointer, i);
    if (loads) {
      llvm::LoadInst* load = e.b.CreateAlignedLoad(type, place, alignment, e.has("volatile"));
      load->setAtomic(ordering);
      Value* value = load;
      if (type->isIntegerTy() && e.is_signed() && type->getIntegerBitWidth() < 32)
        value = e.b.CreateSExt(load, e.b.getInt32Ty());
      e.registers.write(parts[i], value);
    } else {
      Value* value = e.registers.read(parts[i], type);
      if (!value) return false;
      e.b.CreateAlignedStore(value, place, alignment, e.has("volatile"))->setAtomic(ordering);
    }
  }
  return true;
}

/// atom.OP d, [a], b and red.OP [a], b. Relaxed unless said otherwise.
bool atomic(const Emission& e) {
  const bool returns = e.word(0) == "atom";
  Value* pointer = address(e, returns ? 1 : 0);
  Value* value = e.read(returns ? 2 : 1);
  if (!pointer || !value || e.has("v2") || e.has("noftz")) return false;
  const auto ordering = e.has("acq_rel")   ? llvm::AtomicOrdering::AcquireRelease
                        : e.has("acquire") ? llvm::AtomicOrdering::Acquire
                        : e.has("release") ? llvm::AtomicOrdering::Release
                                           : llvm::AtomicOrdering::Monotonic;
  if (e.has("cas")) {
    Value* next = e.read(3);
    if (!next || !returns) return false;
    const auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering);
    return e.write(e.b.CreateExtractValue(
        e.b.CreateAtomicCmpXchg(pointer, value, next, llvm::MaybeAlign(), ordering, failure), 0));
  }
  using Op = llvm::AtomicRMWInst::BinOp;
  Op op = Op::BAD_BINOP;
  for (const std::string& word : e.statement.words) {
    const Op found = llvm::StringSwitch<Op>(word)
                         .Case("add", e.is_float() ? Op::FAdd : Op::Add)
                         .Case("and", Op::And)
                         .Case("or", Op::Or)
                         .Case("xor", Op::Xor)
                         .Case("exch", Op::Xchg)
                         .Case("inc", Op::UIncWrap)
                         .Case("dec", Op::UDecWrap)
                         .Case("min", e.is_signed() ? Op::Min : Op::UMin)
                         .Case("max", e.is_signed() ? Op::Max : Op::UMax)
                         .Default(Op::BAD_BINOP);
    if (found != Op::BAD_BINOP) op = found;
  }
  if (op == Op::BAD_BINOP) return false;
  Value* old = e.b.CreateAtomicRMW(op, pointer, value, llvm::MaybeAlign(), ordering);
  return !returns || e.write(old);
}

bool fence(const Emission& e) {
  const Id::ID id = e.has("cta")                  ? Id::nvvm_membar_cta
                    : e.has("gl") || e.has("gpu") ? Id::nvvm_membar_gl
                                                  : Id::nvvm_membar_sys;
  return !e.has("proxy") && e.call(id, {});
}

/// bar.sync, bar.arrive, bar.warp.sync, barrier[.cta].sync
bool barrier(const Emission& e) {
  if (e.has("warp")) return e.count() == 1 && e.call(Id::nvvm_bar_warp_sync, {e.word32(0)});
  if (e.has("cluster") || e.has("red")) return false;
  if (e.has("arrive")) return e.call(Id::nvvm_barrier_cta_arrive_count, {e.word32(0), e.word32(1)});
  if (!e.has("sync")) return false;
  if (e.count() == 1) return e.call(Id::nvvm_barrier_cta_sync_all, {e.word32(0)});
  return e.call(Id::nvvm_barrier_cta_sync_count, {e.word32(0), e.word32(1)});
}

bool vote(const Emission& e) {
  if (!e.has("sync")) return false;
  const auto id = e.has("ballot") ? Id::nvvm_vote_ballot_sync
                  : e.has("all")  ? Id::nvvm_vote_all_sync
                  : e.has("any")  ? Id::nvvm_vote_any_sync
                                  : Id::nvvm_vote_uni_sync;
  return e.call(id, {e.word32(2), e.read(1, e.b.getInt1Ty())});
}

/// shfl.sync.KIND.b32 d[|p], a, b, c, mask
bool shuffle(const Emission& e) {
  if (!e.has("sync")) return false;
  const auto id = e.has("up")     ? Id::nvvm_shfl_sync_up_i32p
                  : e.has("down") ? Id::nvvm_shfl_sync_down_i32p
                  : e.has("bfly") ? Id::nvvm_shfl_sync_bfly_i32p
                                  : Id::nvvm_shfl_sync_idx_i32p;
  Value* arguments[] = {e.word32(4), e.word32(1), e.word32(2), e.word32(3)};
  if (llvm::is_contained(arguments, nullptr)) return false;
  Value* both = e.b.CreateIntrinsic(id, {}, arguments);
  const auto [value, predicate] = llvm::StringRef(e.statement.operands[0]).split('|');
  e.registers.write(value.trim(), e.b.CreateExtractValue(both, 0));
  if (!predicate.empty()) e.registers.write(predicate.trim(), e.b.CreateExtractValue(both, 1));
  return true;
}

bool redux(const Emission& e) {
  const auto id = e.has("add")   ? Id::nvvm_redux_sync_add
                  : e.has("and") ? Id::nvvm_redux_sync_and
                  : e.has("or")  ? Id::nvvm_redux_sync_or
                  : e.has("xor") ? Id::nvvm_redux_sync_xor
                  : e.has("min") ? (e.is_signed() ? Id::nvvm_redux_sync_min : Id::nvvm_redux_sync_umin)
                                 : (e.is_signed() ? Id::nvvm_redux_sync_max : Id::nvvm_redux_sync_umax);
  return e.call(id, {e.word32(1), e.word32(2)});
}

bool dot(const Emission& e) {
  if (e.statement.words.size() != 3) return false;
  const bool s = e.word(1) == "s32", t = e.word(2) == "s32";
  return e.call(s ? (t ? Id::nvvm_idp4a_s_s : Id::nvvm_idp4a_s_u) : (t ? Id::nvvm_idp4a_u_s : Id::nvvm_idp4a_u_u),
                {e.word32(1), e.word32(2), e.word32(3)});
}

bool active_mask(const Emission& e) {
  return e.call(Id::nvvm_activemask, {});
}
bool sleep(const Emission& e) {
  return e.call(Id::nvvm_nanosleep, {e.word32(0)});
}
bool leave(const Emission& e) {
  return e.call(Id::nvvm_exit, {});
}
bool trap(const Emission& e) {
  return e.call(Id::trap, {});
}
bool hint(const Emission&) {
  return true;
}

struct Row {
  const char* name;
  bool (*emit)(const Emission&);
  bool pure;  ///< only writes its first operand
};

constexpr Row kRows[] = {
    {"mov", move, true},
    {"cvt", convert, true},
    {"cvta", convert_address, true},
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
    {"setp", compare, true},
    {"selp", select, true},
    {"fma", fused, true},
    {"rcp", transcendental, true},
    {"rsqrt", transcendental, true},
    {"sqrt", transcendental, true},
    {"ex2", transcendental, true},
    {"lg2", transcendental, true},
    {"sin", transcendental, true},
    {"cos", transcendental, true},
    {"tanh", transcendental, true},
    {"ld", access, false},
    {"ldu", access, false},
    {"st", access, false},
    {"atom", atomic, false},
    {"red", atomic, false},
    {"membar", fence, false},
    {"fence", fence, false},
    {"bar", barrier, false},
    {"barrier", barrier, false},
    {"vote", vote, false},
    {"shfl", shuffle, false},
    {"redux", redux, false},
    {"activemask", active_mask, false},
    {"nanosleep", sleep, false},
    {"exit", leave, false},
    {"trap", trap, false},
    {"brkpt", hint, false},  // no debugger is attached
    {"pmevent", hint, false},
    {"prefetch", hint, false},
    {"prefetchu", hint, false},
    {"dp4a", dot, true},
};

const Row* row_of(const PtxStatement& statement) {
  if (statement.words.empty()) return nullptr;
  for (const Row& row : kRows)
    if (statement.words[0] == row.name) return &row;
  return nullptr;
}

}  // namespace

bool is_pure_ptx(const PtxStatement& statement) {
  const Row* row = row_of(statement);
  return row && row->pure && !llvm::is_contained(statement.words, "cc");
}

bool emit_ptx(const PtxStatement& statement, PtxRegisters& registers) {
  const Row* row = row_of(statement);
  return row && row->emit(Emission{statement, registers});
}

}  // namespace cupola::kir
