#include "backend/cpu/build/vector_steps.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/Instructions.h>

#include <utility>

#include "kir/intrinsics.h"

namespace cupola::cpu::build {

using kir::Intrinsic;
using llvm::SCEV;

bool is_place_or_size(Intrinsic known) {
  using enum Intrinsic;
  constexpr Intrinsic kAll[] = {TidX,  TidY,  TidZ,  CtaidX,  CtaidY,  CtaidZ,
                                NtidX, NtidY, NtidZ, NctaidX, NctaidY, NctaidZ};
  return llvm::is_contained(kAll, known);
}

std::optional<Intrinsic> register_of(const SCEV* value) {
  const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(value);
  const auto* call = unknown ? llvm::dyn_cast<llvm::CallInst>(unknown->getValue()) : nullptr;
  return call ? kir::intrinsic_of(*call) : std::nullopt;
}

std::optional<uint64_t> positive_constant(const SCEV* value) {
  const auto* known = llvm::dyn_cast_or_null<llvm::SCEVConstant>(value);
  if (!known || known->getAPInt().isNonPositive() || known->getAPInt().getActiveBits() > 32) return std::nullopt;
  return known->getAPInt().getZExtValue();
}

namespace {

class UnlessItWraps : public llvm::SCEVRewriteVisitor<UnlessItWraps> {
 public:
  explicit UnlessItWraps(llvm::ScalarEvolution& evolution) : SCEVRewriteVisitor(evolution) {}

  const SCEV* visitSignExtendExpr(const llvm::SCEVSignExtendExpr* value) {
    return extended(visit(value->getOperand()), value->getType());
  }
  const SCEV* visitZeroExtendExpr(const llvm::SCEVZeroExtendExpr* value) {
    return extended(visit(value->getOperand()), value->getType());
  }

 private:
  const SCEV* extended(const SCEV* value, llvm::Type* type) {
    if (!llvm::isa<llvm::SCEVAddExpr, llvm::SCEVMulExpr>(value)) return SE.getSignExtendExpr(value, type);
    llvm::SmallVector<const SCEV*, 4> parts;
    for (const SCEV* part : llvm::cast<llvm::SCEVNAryExpr>(value)->operands()) parts.push_back(extended(part, type));
    return llvm::isa<llvm::SCEVAddExpr>(value) ? SE.getAddExpr(parts) : SE.getMulExpr(parts);
  }
};

}  // namespace

const SCEV* unless_it_wraps(llvm::ScalarEvolution& evolution, const SCEV* value) {
  return UnlessItWraps(evolution).visit(value);
}

const SCEV* Steps::zero(const SCEV* value) const {
  return evolution_.getZero(evolution_.getEffectiveSCEVType(value->getType()));
}

bool Steps::is_fixed(const SCEV* value) const {
  if (loop_) return evolution_.isLoopInvariant(value, loop_);
  return !llvm::SCEVExprContains(value, [this](const SCEV* part) {
    const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(part);
    if (!unknown || llvm::isa<llvm::Argument, llvm::Constant>(unknown->getValue())) return false;
    const auto known = register_of(unknown);
    return !known || known == moves_ || !is_place_or_size(*known);
  });
}

/// Of two values that stay, one or the other: an index counted from the end where it is negative (x[i] of Python). It
/// stays in all turns but the one where the choice changes.
bool Steps::is_fixed_choice(const SCEV* value) const {
  const auto* unknown = llvm::dyn_cast<llvm::SCEVUnknown>(value);
  auto* choice = unknown ? llvm::dyn_cast<llvm::SelectInst>(unknown->getValue()) : nullptr;
  return choice && is_fixed(evolution_.getSCEV(choice->getTrueValue())) &&
         is_fixed(evolution_.getSCEV(choice->getFalseValue()));
}

const SCEV* Steps::of_what_moves(const SCEV* value) const {
  const auto* turns = llvm::dyn_cast<llvm::SCEVAddRecExpr>(value);
  if (!loop_) {
    if (turns)
      return turns->isAffine() && is_fixed(turns->getStepRecurrence(evolution_)) ? of(turns->getStart()) : nullptr;
    return register_of(value) == moves_ ? evolution_.getOne(value->getType()) : nullptr;
  }
  const SCEV* step = turns && turns->isAffine() ? turns->getStepRecurrence(evolution_) : nullptr;
  return step && is_fixed(step) ? step : nullptr;
}

const SCEV* Steps::of(const SCEV* value) const {
  if (is_fixed(value) || is_fixed_choice(value)) return zero(value);
  if (const auto* cast = llvm::dyn_cast<llvm::SCEVCastExpr>(value)) {
    const SCEV* step = of(cast->getOperand());
    return step ? evolution_.getTruncateOrSignExtend(step, evolution_.getEffectiveSCEVType(cast->getType())) : nullptr;
  }
  if (const auto* sum = llvm::dyn_cast<llvm::SCEVAddExpr>(value)) {
    llvm::SmallVector<const SCEV*, 4> steps;
    for (const SCEV* operand : sum->operands()) {
      steps.push_back(of(operand));
      if (!steps.back()) return nullptr;
    }
    return evolution_.getAddExpr(steps);
  }
  if (const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(value)) {
    llvm::SmallVector<const SCEV*, 4> factors;
    bool moves = false;
    for (const SCEV* operand : product->operands()) {
      if (!is_fixed(operand) && std::exchange(moves, true)) return nullptr;
      factors.push_back(is_fixed(operand) ? operand : of(operand));
      if (!factors.back()) return nullptr;
    }
    return evolution_.getMulExpr(factors);
  }
  return of_what_moves(value);
}

}  // namespace cupola::cpu::build
