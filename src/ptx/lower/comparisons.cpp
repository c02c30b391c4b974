#include "ptx/lower/comparisons.h"

#include "ptx/lower/float_values.h"

// setp and set. PTX ISA, "Comparison and Selection Instructions", "Half Precision Comparison Instructions".

namespace cupola::ptx {
namespace {

using Predicate = llvm::CmpInst::Predicate;

struct Comparison {
  Modifier modifier;
  Predicate of_signed, of_unsigned, of_float;
};
constexpr Predicate kNone = Predicate::BAD_ICMP_PREDICATE;
constexpr Comparison kComparisons[] = {
    {Modifier::Eq, Predicate::ICMP_EQ, Predicate::ICMP_EQ, Predicate::FCMP_OEQ},
    {Modifier::Ne, Predicate::ICMP_NE, Predicate::ICMP_NE, Predicate::FCMP_ONE},
    {Modifier::Lt, Predicate::ICMP_SLT, Predicate::ICMP_ULT, Predicate::FCMP_OLT},
    {Modifier::Le, Predicate::ICMP_SLE, Predicate::ICMP_ULE, Predicate::FCMP_OLE},
    {Modifier::Gt, Predicate::ICMP_SGT, Predicate::ICMP_UGT, Predicate::FCMP_OGT},
    {Modifier::Ge, Predicate::ICMP_SGE, Predicate::ICMP_UGE, Predicate::FCMP_OGE},
    {Modifier::Lo, kNone, Predicate::ICMP_ULT, kNone},
    {Modifier::Ls, kNone, Predicate::ICMP_ULE, kNone},
    {Modifier::Hi, kNone, Predicate::ICMP_UGT, kNone},
    {Modifier::Hs, kNone, Predicate::ICMP_UGE, kNone},
    {Modifier::Equ, kNone, kNone, Predicate::FCMP_UEQ},
    {Modifier::Neu, kNone, kNone, Predicate::FCMP_UNE},
    {Modifier::Ltu, kNone, kNone, Predicate::FCMP_ULT},
    {Modifier::Leu, kNone, kNone, Predicate::FCMP_ULE},
    {Modifier::Gtu, kNone, kNone, Predicate::FCMP_UGT},
    {Modifier::Geu, kNone, kNone, Predicate::FCMP_UGE},
    {Modifier::Num, kNone, kNone, Predicate::FCMP_ORD},
    {Modifier::Nan, kNone, kNone, Predicate::FCMP_UNO},
};

}  // namespace

llvm::CmpInst::Predicate predicate_of(const Emission& e, Type type) {
  for (const Comparison& comparison : kComparisons) {
    if (!e.has(comparison.modifier)) continue;
    const TypeKind kind = kind_of(type);
    if (kind == TypeKind::Float || kind == TypeKind::Pair) return comparison.of_float;
    return kind == TypeKind::Signed ? comparison.of_signed : comparison.of_unsigned;
  }
  return kNone;
}

namespace {

/// Compares operands 1 and 2, of the last type: an i1, or <2 x i1> of a pair. Null after a refusal.
Value* compared(Emission& e) {
  const Predicate predicate = predicate_of(e, e.type());
  if (predicate == kNone) {
    e.refuse("this comparison is not one of the type's");
    return nullptr;
  }
  Value* x = read_operand(e, 1);
  return e.b.CreateCmp(predicate, x, read_operand(e, 2));
}

/// The truth combined with the predicate operand, if there is one.
Value* combined(Emission& e, Value* truth) {
  if (e.count() < 4) return truth;
  Value* with = e.read(3, Type::Pred);
  if (auto* pair = llvm::dyn_cast<llvm::VectorType>(truth->getType()))
    with = e.b.CreateVectorSplat(pair->getElementCount(), with);
  if (e.has(Modifier::And)) return e.b.CreateAnd(truth, with);
  return e.has(Modifier::Or) ? e.b.CreateOr(truth, with) : e.b.CreateXor(truth, with);
}

}  // namespace

namespace emit {

/// setp p|q: q is of the opposite; of a pair, p is of the lower half and q of the upper.
void compare(Emission& e) {
  Value* truth = compared(e);
  if (!truth) return;
  const Operand& to = e.operand(0);
  const bool two = to.kind == Operand::Kind::Pair;
  const auto destination = [&](unsigned i) { return two ? e.f.operands[to.index + i] : to; };
  if (truth->getType()->isVectorTy()) {
    truth = combined(e, truth);
    e.write(destination(0), e.b.CreateExtractElement(truth, uint64_t{0}), Type::Pred);
    if (two) e.write(destination(1), e.b.CreateExtractElement(truth, uint64_t{1}), Type::Pred);
    return;
  }
  Value* first = combined(e, truth);
  Value* second = two ? combined(e, e.b.CreateNot(truth)) : nullptr;
  e.write(destination(0), first, Type::Pred);
  if (two) e.write(destination(1), second, Type::Pred);
}

/// set: all ones or 1.0 for true. Of a pair, an integer has 0xffff for each half that is true.
void compare_to_value(Emission& e) {
  Value* truth = compared(e);
  if (!truth) return;
  truth = combined(e, truth);
  llvm::Type* type = e.value_type(e.type(0));
  if (type->isFPOrFPVectorTy()) {
    Value* one = llvm::ConstantFP::get(type, 1.0);
    return e.write(0, e.b.CreateSelect(truth, one, llvm::Constant::getNullValue(type)));
  }
  llvm::Type* wide = truth->getType()->isVectorTy() ? llvm::FixedVectorType::get(e.b.getInt16Ty(), 2) : type;
  e.write(0, e.convert(e.b.CreateSExt(truth, wide), type));
}

}  // namespace emit
}  // namespace cupola::ptx
